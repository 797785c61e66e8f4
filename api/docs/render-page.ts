import { Marked, type Tokens } from 'marked';
import { anchorOf } from '#api/docs/anchor-of.ts';
import { DESCRIPTION } from '#api/docs/site-base.ts';
import { escapeHtml } from '#crds/process/escape-html.ts';

interface DocumentationPage {
  /** Trusted Markdown of the project; HTML in it is not escaped. */
  readonly markdown: string;
  /** Name of the installation. */
  readonly name: string;
  /** Path of the documentation's root, such as `/docs`. */
  readonly root: string;
  /** Path below the root, such as `reference/errors`; empty for the root. */
  readonly path: string;
}

/** Returns a page of the documentation as an HTML document with an anchor per heading. */
export function renderPage({ markdown, name, root, path }: DocumentationPage): string {
  const title = /^# (.+)$/m.exec(markdown)?.[1] ?? 'Documentation';
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="${escapeHtml(DESCRIPTION)}">
<title>${escapeHtml(title)} – ${escapeHtml(name)}</title>
<link rel="icon" href="${root}/icon.svg">
<link rel="stylesheet" href="${root}/style.css">
</head>
<body>
<header><a class="brand" href="${root}"><img src="${root}/icon.svg" alt="">${escapeHtml(name)}</a></header>
<main>
${bodyOf(markdown, root, path)}</main>
</body>
</html>
`;
}

function bodyOf(markdown: string, root: string, path: string): string {
  const marked = new Marked({
    gfm: true,
    async: false,
    renderer: {
      heading({ tokens, depth, text }: Tokens.Heading): string {
        const anchor = anchorOf(text);
        return `<h${depth} id="${anchor}"><a href="#${anchor}">${this.parser.parseInline(tokens)}</a></h${depth}>\n`;
      },
    },
    walkTokens: (token) => {
      if (token.type === 'link' || token.type === 'image') token['href'] = addressOf(String(token['href']), root, path);
    },
  });
  return marked.parse(markdown) as string;
}

/** Returns the path of the page for a link to a Markdown file; other addresses unchanged. */
function addressOf(href: string, root: string, path: string): string {
  if (/^([a-z]+:|#|\/)/.test(href)) return href;
  const { pathname, hash } = new URL(href, `https://docs.invalid/${path}`);
  return `${root}${pathname.replace(/(?:\/index)?\.md$/, '')}${hash}`;
}
