/**
 * The only script that a page runs at once. It shows the reader's own address of the service in examples and one chosen
 * language in all of them, and starts the application (search, menus, contents of the page, navigation without loading):
 *
 *   wide screen: when the browser is idle, because the contents of the page are beside its text
 *   phone: at the first input, because text and examples need no application, and starting it blocks a phone for half a second
 *
 * A click or a shortcut before the application has started is repeated afterwards.
 */

/** Address of a service on one machine, as pages write it. */
const WRITTEN = 'https://localhost:8443';
/** Name under which the browser stores the chosen language of examples. */
const CHOICE = 'mediajobs-language';
/** Width from which the sidebar is beside the text. */
const WIDE = '(min-width: 960px)';
/** Inputs that start the application. */
const INPUTS = ['pointermove', 'pointerdown', 'wheel', 'keydown', 'click'] as const;

let state: 'waiting' | 'starting' | 'started' = 'waiting';
/** Repeats the last click or shortcut that the application was not there to handle. */
let repeat: (() => void) | null = null;

showPage();
document.addEventListener('change', chooseLanguage);
// The theme dispatches it when the application has started and after each navigation.
document.addEventListener('mediajobs:page', () => {
  showPage();
  if (state === 'started') return;
  state = 'started';
  for (const input of INPUTS) removeEventListener(input, handleInput, true);
  repeat?.();
});
for (const input of INPUTS) addEventListener(input, handleInput, true);
if (matchMedia(WIDE).matches) whenIdle(() => void startApplication());

/** Loads the scripts of the application in their order. */
async function startApplication(): Promise<void> {
  if (state !== 'waiting') return;
  state = 'starting';
  for (const { href } of document.querySelectorAll<HTMLLinkElement>('link[data-application]'))
    await import(/* @vite-ignore */ href);
}

function handleInput(event: Event): void {
  if (event.type === 'click') keepClick(event as MouseEvent);
  if (event instanceof KeyboardEvent) keepShortcut(event);
  void startApplication();
}

/** Keeps the click on a button, whose only effect is in the application. Links and tabs work without it. */
function keepClick({ target, clientX, clientY }: MouseEvent): void {
  const button = (target as Element).closest('button');
  if (button === null) return;
  repeat = () => {
    // The application replaces some elements when it starts.
    const other = document.elementFromPoint(clientX, clientY)?.closest('button');
    (button.isConnected ? button : other)?.click();
  };
}

/** Keeps the shortcut of the search, which browsers use otherwise. */
function keepShortcut(event: KeyboardEvent): void {
  const isShortcut = event.key === '/' || (event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey));
  if (!isShortcut) return;
  event.preventDefault();
  repeat = () => void dispatchEvent(new KeyboardEvent('keydown', event));
}

function whenIdle(callback: () => void): void {
  if ('requestIdleCallback' in globalThis) requestIdleCallback(callback);
  else setTimeout(callback);
}

function showPage(): void {
  showOwnAddress();
  showLanguage(localStorage.getItem(CHOICE));
}

/** Replaces the written address in code by the one that serves this page, unless the page starts a service of its own. */
function showOwnAddress(): void {
  for (const code of document.querySelectorAll('.Layout:not(.starts-service) .vp-doc code')) {
    if (!code.textContent.includes(WRITTEN)) continue;
    const texts = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const text = texts.currentNode as Text;
      if (text.data.includes(WRITTEN)) text.data = text.data.replaceAll(WRITTEN, location.origin);
    }
  }
}

function chooseLanguage({ target }: Event): void {
  const label = (target as Element).matches('.vp-code-group input') && (target as HTMLInputElement).labels?.[0];
  if (!label) return;
  const top = label.getBoundingClientRect().top;
  localStorage.setItem(CHOICE, label.innerText);
  showLanguage(label.innerText);
  // Examples above became longer or shorter: the chosen one stays where it was.
  scrollBy({ top: label.getBoundingClientRect().top - top, behavior: 'instant' });
}

/** Selects the tabs of a language; `style.css` shows the block of the selected tab. */
function showLanguage(language: string | null): void {
  if (language === null) return;
  for (const label of document.querySelectorAll<HTMLLabelElement>('.vp-code-group label'))
    if (label.textContent === language) (label.control as HTMLInputElement).checked = true;
}
