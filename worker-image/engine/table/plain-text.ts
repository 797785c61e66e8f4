/** One line of a cell's text as it stands in the page. */
export interface Line {
  text: string;
  /** Blanks count, as in `pre`. */
  readonly exact: boolean;
}

/** Text as a browser shows it: blanks run together, blocks and line breaks begin a line. */
export function plainText(lines: readonly Line[]): string {
  const shown = lines.map(({ text, exact }) =>
    exact ? text : text.replaceAll(/[ \t\n\r\f]+/g, ' ').replaceAll(/^ | $/g, ''),
  );
  const first = shown.findIndex((line) => line !== '');
  return first === -1 ? '' : shown.slice(first, shown.findLastIndex((line) => line !== '') + 1).join('\n');
}
