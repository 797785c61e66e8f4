/**
 * The default theme with the colors of the dashboard, the reader's own address of the service in examples, and one chosen
 * language in all of them.
 */
import { useRoute, type Theme } from 'vitepress';
import DefaultTheme from 'vitepress/theme-without-fonts';
import { nextTick, onMounted, watch } from 'vue';
import './style.css';

/** Address of a service on one machine, as pages write it. */
const WRITTEN = 'https://localhost:8443';
/** Name under which the browser stores the chosen language of examples. */
const CHOICE = 'mediajobs-language';

export default {
  extends: DefaultTheme,
  setup: () => {
    const route = useRoute();
    const showPage = (): void => {
      showOwnAddress();
      showLanguage(localStorage.getItem(CHOICE));
    };
    onMounted(() => {
      showPage();
      document.addEventListener('change', ({ target }) => {
        const label = (target as Element).matches('.vp-code-group input') && (target as HTMLInputElement).labels?.[0];
        if (!label) return;
        const top = label.getBoundingClientRect().top;
        localStorage.setItem(CHOICE, label.innerText);
        showLanguage(label.innerText);
        // Examples above became longer or shorter: the chosen one stays where it was.
        scrollBy({ top: label.getBoundingClientRect().top - top, behavior: 'instant' });
      });
    });
    watch(
      () => route.path,
      () => nextTick(showPage),
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

/** Selects the tabs of a language; `style.css` shows the block of the selected tab. */
function showLanguage(language: string | null): void {
  for (const label of document.querySelectorAll<HTMLLabelElement>('.vp-code-group label'))
    if (label.innerText === language) (label.control as HTMLInputElement).checked = true;
}
