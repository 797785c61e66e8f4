/** Writes tables as text. Each writer yields the file in pieces of at most one row. */
import { headerNames } from '#worker-image/engine/table/header-names.ts';
import type { TableRow, TableRows } from '#worker-image/engine/table/table-row.ts';

/** Writes CSV. Quotes cells with any character that some program takes for a delimiter. */
export function writeCsv(rows: TableRows): AsyncGenerator<string> {
  return writeDelimited(rows, ',', /[",;|\t\r\n]|^\s|\s$/);
}

/** Writes TSV. Quotes cells with tabs, line breaks or quotes, as spreadsheets do. */
export function writeTsv(rows: TableRows): AsyncGenerator<string> {
  return writeDelimited(rows, '\t', /["\t\r\n]|^\s|\s$/);
}

/** Writes an array of objects, with the cells of the first row as keys (docs/reference/formats.md#tables). */
export async function* writeJson(rows: TableRows): AsyncGenerator<string> {
  let before = '[\n';
  for await (const object of objectsOf(rows)) {
    yield before + object;
    before = ',\n';
  }
  yield before === '[\n' ? '[]\n' : '\n]\n';
}

/** Writes one JSON object per line. */
export async function* writeNdjson(rows: TableRows): AsyncGenerator<string> {
  for await (const object of objectsOf(rows)) yield `${object}\n`;
}

/** Writes an HTML page. Its style preserves whitespace and line ends in browsers and in `readHtml`. */
export async function* writeHtml(rows: TableRows): AsyncGenerator<string> {
  yield '<!DOCTYPE html>\n<html>\n<head>\n<meta charset="utf-8">\n<title>Table</title>\n</head>\n<body>\n<table style="white-space: pre-wrap">\n';
  let tag = 'th';
  for await (const row of rows) {
    const cells = row.map((cell) => `<${tag}>${htmlText(cell)}</${tag}>`).join('');
    yield tag === 'th' ? `<thead>\n<tr>${cells}</tr>\n</thead>\n<tbody>\n` : `<tr>${cells}</tr>\n`;
    tag = 'td';
  }
  yield '</tbody>\n</table>\n</body>\n</html>\n';
}

/** Writes a table of GitHub Flavored Markdown. */
export async function* writeMarkdown(rows: TableRows): AsyncGenerator<string> {
  let isHeader = true;
  for await (const row of rows) {
    yield markdownLine(row.map(markdownText));
    if (isHeader) yield markdownLine(row.map(() => '---'));
    isHeader = false;
  }
}

async function* writeDelimited(rows: TableRows, delimiter: string, quoted: RegExp): AsyncGenerator<string> {
  const cell = (text: string): string => (quoted.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  for await (const row of rows) {
    // Readers skip an empty line.
    yield row.length === 1 && row[0] === '' ? '""\n' : `${row.map(cell).join(delimiter)}\n`;
  }
}

/** Yields the JSON text of each row but the first. Not by JSON.stringify: an object would reorder keys such as `10`. */
async function* objectsOf(rows: TableRows): AsyncGenerator<string> {
  let header: TableRow | null = null;
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

/** Appends empty cells; more than needed, because rows may grow one by one. */
function widened(header: TableRow, width: number): TableRow {
  return [...header, ...Array.from({ length: Math.max(0, width - header.length) }, () => '')];
}

function keysOf(header: TableRow): string[] {
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

/** Escapes Markdown syntax, and whitespace that readers would drop. */
function markdownText(text: string): string {
  return text
    .replaceAll(/[\\|`*<[]|&(?=[#\w])|(?<!\w)_|_(?!\w)/g, String.raw`\$&`)
    .replaceAll(/^\s|\s$|[\t\r\f\v\u{85}\u{2028}\u{2029}]/gu, (blank) =>
      blank === '\n' ? blank : `&#${blank.codePointAt(0)};`,
    )
    .replaceAll('\n', '<br>');
}
