/** Pages that show their text without VitePress' application: `theme/page.ts` starts it later. */
import { fileURLToPath } from 'node:url';
import type { UserConfig } from 'vitepress';

type Plugin = NonNullable<NonNullable<UserConfig['vite']>['plugins']>[number];

const SCRIPT = fileURLToPath(new URL('theme/page.ts', import.meta.url));
/** Scripts of the application in the head of a page, which VitePress writes in the order in which they run. */
const APPLICATION = /<script type="module" src="([^"]+)"><\/script>/g;

interface DeferredApplication {
  /** Plugin of Vite that adds the script. */
  readonly plugin: Plugin;
  /** Returns a page whose only script is that. */
  readonly deferIn: (html: string) => string;
}

export function deferApplication(base: string): DeferredApplication {
  let isForBrowsers = false;
  let reference = '';
  let script = '';
  return {
    plugin: {
      name: 'deferred-application',
      configResolved: ({ build }) => void (isForBrowsers = !build.ssr),
      buildStart() {
        if (isForBrowsers) reference = this.emitFile({ type: 'chunk', id: SCRIPT, name: 'page' });
      },
      generateBundle() {
        if (isForBrowsers) script = this.getFileName(reference);
      },
    },
    deferIn: (html) =>
      html
        .replaceAll(APPLICATION, '<link rel="prefetch" href="$1" data-application>')
        .replace('</head>', () => `  <script type="module" src="${base}${script}"></script>\n  </head>`),
  };
}
