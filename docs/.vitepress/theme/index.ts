/** The default theme with the colors of the dashboard, in an application that starts after the page is shown (`page.ts`). */
import { useRoute, type Theme } from 'vitepress';
import DefaultTheme from 'vitepress/theme-without-fonts';
import { nextTick, onMounted, watch } from 'vue';
import './style.css';

export default {
  extends: DefaultTheme,
  enhanceApp: ({ router }) => {
    if (!import.meta.env.SSR) keepPosition(router);
  },
  setup: () => {
    const route = useRoute();
    // When the parts that depend on the text, such as its contents, are there too.
    const announce = async (): Promise<void> => {
      await nextTick();
      document.dispatchEvent(new Event('mediajobs:page'));
    };
    onMounted(announce);
    watch(() => route.path, announce);
  },
} satisfies Theme;

/** Stops the application from scrolling to the top or to the anchor when it starts: the reader may have scrolled before. */
function keepPosition(router: Parameters<NonNullable<Theme['enhanceApp']>>[0]['router']): void {
  const { scrollTo } = globalThis;
  globalThis.scrollTo = () => {};
  router.onAfterRouteChange = () => {
    delete router.onAfterRouteChange;
    // Later than the application's own, which it requests in the next tick.
    void nextTick(() => requestAnimationFrame(() => (globalThis.scrollTo = scrollTo)));
  };
}
