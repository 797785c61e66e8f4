/**
 * Makes the documentation site from `docs/*.md`: `hack/docs`. The API serves it below `/docs`; `hack/docs --base /` makes
 * one for any web server.
 */
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { transformerStyleToClass } from '@shikijs/transformers';
import { defineConfig, type SiteConfig } from 'vitepress';
import { anchorOf } from '../../api/docs/anchor-of.ts';
import { SITE_BASE, SITE_NAME } from '../../api/docs/site-base.ts';
import { SIDEBAR } from './sidebar.ts';

const DESCRIPTION =
  'An HTTPS JSON API that compresses, converts and strips metadata from images, PDFs, video, audio, office documents, tables and fonts.';
/** Files at the root of the project to which pages link. */
const PROJECT_FILES = ['LICENSE', 'CHANGELOG.md', 'SECURITY.md'];
const base = process.env['MEDIAJOBS_DOCS_BASE'] ?? SITE_BASE;
/** Name of the installation. The service replaces the one in its own site. */
const name = base === SITE_BASE ? SITE_NAME : (process.env['MEDIAJOBS_NAME'] ?? 'mediajobs');
const ICON = 'icon.svg';
/** Address at which a page is edited, with `:path` for its file below `docs`. Without it pages have no such link. */
const editPattern = process.env['MEDIAJOBS_DOCS_EDIT'];
// The strict content policy allows no style attributes: colors of code become classes.
const colors = transformerStyleToClass({ classPrefix: 'code-' });

export default defineConfig({
  title: name,
  description: DESCRIPTION,
  base,
  cleanUrls: true,
  metaChunk: true,
  // Pages in one order, so that each build writes the same search index.
  buildConcurrency: 1,
  markdown: {
    anchor: { slugify: anchorOf },
    // Paths of endpoints have braces, which are no attributes.
    attrs: { disable: true },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    // On a busy machine a line would otherwise lose its colors after half a second.
    codeTransformers: [{ preprocess: (_code, options) => void (options.tokenizeTimeLimit = 0) }, colors],
    config: (markdown) => {
      // The empty corner of a table is no header of anything.
      markdown.core.ruler.push('corners', ({ tokens }) => {
        for (const [i, token] of tokens.entries()) {
          const cell = { th_open: tokens[i + 1], th_close: tokens[i - 1] }[token.type];
          if (cell?.content === '') token.tag = 'td';
        }
      });
      // Adjacent blocks with a label, such as `ts [TypeScript]`, are tabs. Elsewhere they are read one after another.
      markdown.core.ruler.push('tabs', (state) => {
        state.tokens = state.tokens.flatMap((token, i, all) => {
          if (!isTab(token)) return [token];
          const before = isTab(all[i - 1]) ? [] : [new state.Token('container_code-group_open', 'div', 1)];
          const after = isTab(all[i + 1]) ? [] : [new state.Token('container_code-group_close', 'div', -1)];
          return [...before, token, ...after];
        });
      });
      markdown.core.ruler.push('project-files', ({ tokens }) => {
        for (const { attrs } of tokens.flatMap(({ children }) => children ?? []))
          for (const attribute of attrs ?? []) attribute[1] = addressOf(attribute[1]);
      });
    },
  },
  themeConfig: {
    logo: `/${ICON}`,
    sidebar: SIDEBAR.map(({ text, items }) => ({ text, items: [...items] })),
    outline: [2, 3],
    search: { provider: 'local' },
    externalLinkIcon: true,
    ...(editPattern === undefined ? {} : { editLink: { pattern: editPattern, text: 'Edit this page' } }),
  },
  transformPageData: ({ relativePath }) => {
    const link = `/${relativePath.replace(/(^index)?\.md$/, '')}`;
    if (relativePath !== '404.md' && !SIDEBAR.some(({ items }) => items.some((item) => item.link === link)))
      throw new Error(`docs/${relativePath} has no row in docs/.vitepress/sidebar.ts: add one`);
  },
  // The content policy refuses style attributes; `theme/style.css` has these.
  transformHtml: (page) => page.replaceAll(/ style="(?:position:relative;|--vp-vh:0px;)"/g, ''),
  vite: { esbuild: { target: 'es2022', tsconfigRaw: {} } },
  buildEnd: ({ outDir, root }: SiteConfig) => {
    // The colors of code, which the transformer collected while it rendered the pages, in no order.
    writeFileSync(join(outDir, 'code.css'), colors.getCSS().split(/(?<=\})/).toSorted().join(''));
    writeFileSync(join(outDir, 'llms.txt'), pageList());
    copyFileSync(join(root, '../api/dashboard/assets', ICON), join(outDir, ICON));
    for (const name of PROJECT_FILES) writeFileSync(join(outDir, textFileOf(name)), readFileSync(join(root, '..', name)));
  },
  head: [
    ['link', { rel: 'stylesheet', href: `${base}code.css` }],
    ['link', { rel: 'icon', href: `${base}${ICON}` }],
  ],
});

function isTab(token: { readonly type: string; readonly info: string } | undefined): boolean {
  return token?.type === 'fence' && /\[.+\]/.test(token.info);
}

/** Returns the address below the base of a link to a file at the root of the project; others unchanged. */
function addressOf(href: string): string {
  const name = basename(href);
  return href === `../${name}` && PROJECT_FILES.includes(name) ? `/${textFileOf(name)}` : href;
}

function textFileOf(name: string): string {
  return `${name.replace(/\.md$/, '')}.txt`;
}

/** Returns the list of pages for language models, as https://llmstxt.org describes it. */
function pageList(): string {
  const sections = SIDEBAR.map(({ text, items }) => {
    const lines = items.map((item) => `- [${item.text}](${base.replace(/\/$/, '')}${item.link})`);
    return `## ${text}\n\n${lines.join('\n')}\n`;
  });
  return `# ${name}\n\n> ${DESCRIPTION}\n\n${sections.join('\n')}`;
}
