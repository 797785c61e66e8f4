/** Writes tables as text. Each writer yields pieces of the file, a row or less at a time. */
import { headerNames } from '#worker-image/engine/table/header-names.ts';
import type { Row, Rows } from '#worker-image/engine/table/table-row.ts';

/** Cells with any mark that some program takes for a separator are quoted, so that nobody needs to guess. */
export function writeCsv(rows: Rows): AsyncGenerator<string> {
  return writeDelimited(rows, ',', /[",;|\t\r\n]|^\s|\s$/);
}

/** Cells with tabs, line breaks or quotes are quoted, as spreadsheets do. */
export function writeTsv(rows: Rows): AsyncGenerator<string> {
  return writeDelimited(rows, '\t', /["\t\r\n]|^\s|\s$/);
}

/** One object per row, keyed by the cells of the first row. Spec: Convert rule 5. */
export async function* writeJson(rows: Rows): AsyncGenerator<string> {
  let before = '[\n';
  for await (const object of objectsOf(rows)) {
    yield before + object;
    before = ',\n';
  }
  yield before === '[\n' ? '[]\n' : '\n]\n';
}

export async function* writeNdjson(rows: Rows): AsyncGenerator<string> {
  for await (const object of objectsOf(rows)) yield `${object}\n`;
}

/** The style keeps every blank and line end, for browsers and for our own reader. */
export async function* writeHtml(rows: Rows): AsyncGenerator<string> {
  yield '<!DOCTYPE html>\n<html>\n<head>\n<meta charset="utf-8">\n<title>Table</title>\n</head>\n<body>\n<table style="white-space: pre-wrap">\n';
  let tag = 'th';
  for await (const row of rows) {
    const cells = row.map((cell) => `<${tag}>${htmlText(cell)}</${tag}>`).join('');
    yield tag === 'th' ? `<thead>\n<tr>${cells}</tr>\n</thead>\n<tbody>\n` : `<tr>${cells}</tr>\n`;
    tag = 'td';
  }
  yield '</tbody>\n</table>\n</body>\n</html>\n';
}

export async function* writeMarkdown(rows: Rows): AsyncGenerator<string> {
  let isHeader = true;
  for await (const row of rows) {
    yield markdownLine(row.map(markdownText));
    if (isHeader) yield markdownLine(row.map(() => '---'));
    isHeader = false;
  }
}

async function* writeDelimited(rows: Rows, delimiter: string, quoted: RegExp): AsyncGenerator<string> {
  const cell = (text: string): string => (quoted.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  for await (const row of rows) {
    // An empty line would be no row.
    yield row.length === 1 && row[0] === '' ? '""\n' : `${row.map(cell).join(delimiter)}\n`;
  }
}

/** The JSON text of each row but the first. Written by hand, as an object would reorder keys such as `10`. */
async function* objectsOf(rows: Rows): AsyncGenerator<string> {
  let header: Row | null = null;
  let keys: string[] = [];
  for await (const row of rows) {
    if (header === null) {
      header = row;
      keys = keysOf(row);
      continue;
    }
    if (row.length > keys.length) keys = keysOf(widened(header, row.length * 2));
    const width = Math.max(header.length, row.length);
    yield `{${keys
      .slice(0, width)
      .map((key, index) => `${key}:${JSON.stringify(row[index] ?? '')}`)
      .join(',')}}`;
  }
}

/** With empty cells behind it; wider than needed at once, as rows may grow one by one. */
function widened(header: Row, width: number): Row {
  return [...header, ...Array.from({ length: Math.max(0, width - header.length) }, () => '')];
}

function keysOf(header: Row): string[] {
  return headerNames(header).map((name) => JSON.stringify(name));
}

function htmlText(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('\r', '&#13;')
    .replaceAll('\n', '<br>');
}

function markdownLine(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |\n`;
}

/** Marks that would turn the cell into something else than its text are escaped, and blanks that would be dropped. */
function markdownText(text: string): string {
  return text
    .replaceAll(/[\\|`*<[]|&(?=[#\w])|(?<!\w)_|_(?!\w)/g, String.raw`\$&`)
    .replaceAll(/^\s|\s$|[\t\r\f\v\u{85}\u{2028}\u{2029}]/gu, (blank) =>
      blank === '\n' ? blank : `&#${blank.codePointAt(0)};`,
    )
    .replaceAll('\n', '<br>');
}
