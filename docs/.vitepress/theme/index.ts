/** The default theme with the colors of the dashboard, and the reader's own address of the service in examples. */
import { useRoute, type Theme } from 'vitepress';
import DefaultTheme from 'vitepress/theme-without-fonts';
import { nextTick, onMounted, watch } from 'vue';
import './style.css';

/** Address of a service on one machine, as pages write it. */
const WRITTEN = 'https://localhost:8443';

export default {
  extends: DefaultTheme,
  setup: () => {
    const route = useRoute();
    onMounted(showOwnAddress);
    watch(
      () => route.path,
      () => nextTick(showOwnAddress),
    );
  },
} satisfies Theme;

/** Replaces the written address in code by the one that serves this page. */
function showOwnAddress(): void {
  for (const code of document.querySelectorAll('.vp-doc code')) {
    const texts = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const text = texts.currentNode as Text;
      if (text.data.includes(WRITTEN)) text.data = text.data.replaceAll(WRITTEN, location.origin);
    }
  }
}
