/**
 * Makes the documentation site from `docs/*.md`: `hack/docs`. The API serves it below `/docs`; `hack/docs --base /` makes
 * one for any web server.
 */
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { transformerStyleToClass } from '@shikijs/transformers';
import { defineConfig, type SiteConfig } from 'vitepress';
import { anchorOf } from '../../api/docs/anchor-of.ts';
import { DESCRIPTION, SITE_BASE, SITE_NAME } from '../../api/docs/site-base.ts';
import { deferApplication } from './deferred-application.ts';
import { SIDEBAR } from './sidebar.ts';

/** Files at the root of the project to which pages link. */
const PROJECT_FILES = ['LICENSE', 'CHANGELOG.md', 'SECURITY.md'];
const base = process.env['MEDIAJOBS_DOCS_BASE'] ?? SITE_BASE;
/** Name of the installation. The service replaces the one in its own site. */
const name = base === SITE_BASE ? SITE_NAME : (process.env['MEDIAJOBS_NAME'] ?? 'mediajobs');
const ICON = 'icon.svg';
/** Rule that renders the begin of a group of tabs. */
const TABS = 'container_code-group_open';
/** Folders of the npm packages whose code is in the site. */
const packagesOfSite = new Set<string>();
/** Address at which a page is edited, with `:path` for its file below `docs`. Without it pages have no such link. */
const editPattern = process.env['MEDIAJOBS_DOCS_EDIT'];
// The strict content policy allows no style attributes: colors of code become classes.
const colors = transformerStyleToClass({ classPrefix: 'code-' });

const application = deferApplication(base);

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
          const before = isTab(all[i - 1]) ? [] : [new state.Token(TABS, 'div', 1)];
          const after = isTab(all[i + 1]) ? [] : [new state.Token('container_code-group_close', 'div', -1)];
          return [...before, token, ...after];
        });
      });
      // By position, so that each build writes the same bytes: the names that VitePress gives are random.
      const openTabs = markdown.renderer.rules[TABS];
      if (openTabs === undefined) throw new Error(`VitePress renders no ${TABS}`);
      markdown.renderer.rules[TABS] = (tokens, position, ...rest) => {
        const names: string[] = [];
        return openTabs(tokens, position, ...rest).replaceAll(/(?<==")(group|tab)-[^"]+/g, (name, kind) => {
          if (!names.includes(name)) names.push(name);
          return `${kind}-${position}-${names.indexOf(name)}`;
        });
      };
      markdown.core.ruler.push('project-files', ({ tokens }) => {
        for (const { attrs } of tokens.flatMap(({ children }) => children ?? []))
          for (const attribute of attrs ?? []) attribute[1] = addressOf(attribute[1]);
      });
    },
  },
  themeConfig: {
    logo: `/${ICON}`,
    sidebar: SIDEBAR.map(({ text, items }) => ({ text, items: items.map((item) => ({ text: item.text, link: item.link })) })),
    nav: [
      { text: 'First job', link: '/' },
      { text: 'Endpoints', link: '/reference/endpoints' },
      { text: 'Errors', link: '/reference/errors' },
    ],
    outline: [2, 3],
    // Until the application has started, the button that opens the contents has this label.
    returnToTopLabel: 'On this page',
    notFound: {
      title: 'Page not found',
      quote: 'The documentation has no page at this address.',
      linkLabel: 'Start page of the documentation',
      linkText: 'Start page',
    },
    search: { provider: 'local' },
    externalLinkIcon: true,
    ...(editPattern === undefined ? {} : { editLink: { pattern: editPattern, text: 'Edit this page' } }),
  },
  transformPageData: ({ relativePath, frontmatter }) => {
    const link = `/${relativePath.replace(/(^index)?\.md$/, '')}`;
    const row = SIDEBAR.flatMap(({ items }) => items).find((item) => item.link === link);
    if (relativePath !== '404.md' && row === undefined)
      throw new Error(`docs/${relativePath} has no row in docs/.vitepress/sidebar.ts: add one`);
    return row?.startsService ? { frontmatter: { ...frontmatter, pageClass: 'starts-service' } } : {};
  },
  // The content policy refuses style attributes; `theme/style.css` has these.
  transformHtml: (html, _file, { page }) => {
    const allowed = html.replaceAll(/ style="(?:position:relative;|--vp-vh:0px;)"/g, '');
    // The application writes the whole page of an unknown address.
    return page === '404.md' ? allowed : application.deferIn(allowed);
  },
  shouldPreload: () => false,
  vite: {
    esbuild: { target: 'es2022', tsconfigRaw: {} },
    plugins: [
      application.plugin,
      {
        name: 'packages-of-site',
        generateBundle: (_options, bundle) => {
          const parts = Object.values(bundle).flatMap((part) => (part.type === 'chunk' ? part.moduleIds : []));
          for (const id of parts) {
            const [folder] = /\/.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id) ?? [];
            if (folder !== undefined) packagesOfSite.add(folder);
          }
        },
      },
    ],
  },
  buildEnd: ({ outDir, root }: SiteConfig) => {
    // The colors of code, which the transformer collected while it rendered the pages, in no order.
    writeFileSync(join(outDir, 'code.css'), colors.getCSS().split(/(?<=\})/).toSorted().join(''));
    writeFileSync(join(outDir, 'llms.txt'), pageList());
    writeFileSync(join(outDir, 'third-party.txt'), thirdParties());
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

/** Returns name, version and licence of each package in the site, then the texts of the licences. */
function thirdParties(): string {
  const parts = [...packagesOfSite].toSorted().map((folder) => {
    const { name: title, version, license, author } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const files = readdirSync(folder).filter((file) => /^licen[sc]e/i.test(file));
    const own = files.map((file) => readFileSync(join(folder, file), 'utf8').trim());
    const texts = own.length > 0 ? own : [`${license} License. Copyright (c) ${author.name}. The package has no text of it.`];
    return { line: `${title} ${version} ${license}`, text: [`--- ${title}`, ...texts].join('\n\n') };
  });
  return `${parts.map(({ line }) => line).join('\n')}\n\n${parts.map(({ text }) => text).join('\n\n')}\n`;
}

/** Returns the list of pages for language models, as https://llmstxt.org describes it. */
function pageList(): string {
  const sections = SIDEBAR.map(({ text, items }) => {
    const lines = items.map((item) => `- [${item.text}](${base.replace(/\/$/, '')}${item.link})`);
    return `## ${text}\n\n${lines.join('\n')}\n`;
  });
  return `# ${name}\n\n> ${DESCRIPTION}\n\n${sections.join('\n')}`;
}
