/** HTML elements by their effect on the text of table cells. */

/** Elements that begin a new line. Rows and cells begin one inside another cell. */
export const BLOCKS: ReadonlySet<string> = new Set(
  `br p div h1 h2 h3 h4 h5 h6 pre blockquote hr tr td th ul ol li dl dt dd option address article aside details
  fieldset figcaption figure footer form header main nav section summary`.split(/\s+/),
);

export const CELLS: ReadonlySet<string> = new Set(['td', 'th']);

/** Cells, rows and row groups. */
export const PARTS: ReadonlySet<string> = new Set([...CELLS, 'tr', 'thead', 'tbody', 'tfoot']);

/** Styles that display whitespace and line ends. */
const PREFORMATTED = /(?:^|[;\s])white-space\s*:\s*(?:pre|pre-wrap|break-spaces)\s*(?:;|!|$)/i;

const HIDDEN_STYLE = /(?:^|[;\s])display\s*:\s*none\s*(?:;|!|$)/i;

/** Elements whose content is not displayed. */
export const HIDDEN: ReadonlySet<string> = new Set(['script', 'style', 'template']);

/** Returns whether an element displays whitespace and line ends because of its style. */
export function isPreformatted({ style = '' }: Readonly<Record<string, string>>): boolean {
  return PREFORMATTED.test(style);
}

/** Returns whether an element is not displayed because of its attribute or style. */
export function isHidden({ hidden, style = '' }: Readonly<Record<string, string>>): boolean {
  return hidden !== undefined || HIDDEN_STYLE.test(style);
}
