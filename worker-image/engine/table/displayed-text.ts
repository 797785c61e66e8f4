/** A line of a cell's text, as in the source of the page. */
export interface CellLine {
  text: string;
  /** Whitespace is significant, as in `pre`. */
  readonly preformatted: boolean;
}

/** Number of characters that a line counts for in the length of a row: an empty one takes as much memory. */
export const LINE_CHARS = 16;

/** Returns the text as a browser displays it: collapses whitespace, drops empty lines at the start and end. */
export function displayedText(lines: readonly CellLine[]): string {
  const shown = lines.map(({ text, preformatted }) =>
    preformatted ? text : text.replaceAll(/[ \t\n\r\f]+/g, ' ').replaceAll(/^ | $/g, ''),
  );
  const first = shown.findIndex((line) => line !== '');
  return first === -1 ? '' : shown.slice(first, shown.findLastIndex((line) => line !== '') + 1).join('\n');
}
