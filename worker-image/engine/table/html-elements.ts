/** Elements of a page, by what they mean for its tables. */

/** They begin a line of their own; rows and cells do when they are in another cell. */
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

/** What a table is made of: cells, rows and groups of rows. */
export const PARTS: ReadonlySet<string> = new Set([...CELLS, 'tr', 'thead', 'tbody', 'tfoot']);

/** What is in them is not shown. */
export const SILENT: ReadonlySet<string> = new Set(['script', 'style', 'template']);
