/** HTML elements by their effect on the text of table cells. */

/** Elements that begin a new line. Rows and cells begin one inside another cell. */
export const BLOCKS: ReadonlySet<string> = new Set([
  'br',
  'p',
  'div',
  'li',
  'tr',
  'td',
  'th',
  'h1',
  'h2',
  'h3',
  'h4',
  'h5',
  'h6',
  'pre',
  'blockquote',
]);

export const CELLS: ReadonlySet<string> = new Set(['td', 'th']);

/** Cells, rows and row groups. */
export const PARTS: ReadonlySet<string> = new Set([...CELLS, 'tr', 'thead', 'tbody', 'tfoot']);

/** Elements whose content is not displayed. */
export const HIDDEN: ReadonlySet<string> = new Set(['script', 'style', 'template']);
