/** Writes tables as text, see `writeRows`. */
import { headerNames } from '#worker-image/engine/table/header-names.ts';
import type { RowBatch, TableRows } from '#worker-image/engine/table/row-batch.ts';
import { Escapes, type TextBuffer } from '#worker-image/engine/table/text-buffer.ts';
import type { Warn } from '#worker-image/engine/table/table-row.ts';
import { writeRows, type RowFormat } from '#worker-image/engine/table/write-rows.ts';

const QUOTE = Buffer.from('"');
const EMPTY_CELL = Buffer.from('""');
const LINE_FEED = Buffer.from('\n');
const OBJECT_END = Buffer.from('"}');
const EMPTY_OBJECT = Buffer.from('{}');
const BLANK_EDGE = /^\s|\s$/;

const WIDER_ROWS =
  'Some rows have more cells than the first one: Markdown viewers do not display these cells. Add column names, or choose html.';

const UNCHANGED = new Escapes({});
const DOUBLED_QUOTES = new Escapes({ '"': '""' });
const HTML_ESCAPES = new Escapes({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '\r': '&#13;', '\n': '<br>' });
const JSON_ESCAPES = new Escapes(
  Object.fromEntries(
    [...Array.from({ length: 0x20 }, (_, code) => String.fromCharCode(code)), '"', '\\'].map((char) => [
      char,
      JSON.stringify(char).slice(1, -1),
    ]),
  ),
  (code) => String.raw`\u${code.toString(16)}`,
);

/** Writes CSV. Quotes cells with any character that some program takes for a delimiter. */
export function writeCsv(rows: TableRows): AsyncGenerator<Uint8Array> {
  return writeRows(rows, delimitedFormat(',', '",;|\t\r\n'));
}

/** Writes TSV. Quotes cells with tabs, line breaks or quotes, as spreadsheets do. */
export function writeTsv(rows: TableRows): AsyncGenerator<Uint8Array> {
  return writeRows(rows, delimitedFormat('\t', '"\t\r\n'));
}

/** Writes an array of objects, with the cells of the first row as keys (docs/reference/formats.md#tables). */
export function writeJson(rows: TableRows): AsyncGenerator<Uint8Array> {
  return writeRows(rows, objectFormat({ start: '[\n', between: ',\n', end: '\n]\n', empty: '[]\n' }));
}

/** Writes one JSON object per line. */
export function writeNdjson(rows: TableRows): AsyncGenerator<Uint8Array> {
  return writeRows(rows, objectFormat({ start: '', between: '\n', end: '\n', empty: '' }));
}

/** Writes an HTML page. Its style preserves whitespace and line ends in browsers and in `readHtml`. */
export function writeHtml(rows: TableRows): AsyncGenerator<Uint8Array> {
  const [header, body] = [htmlRow('th', '<thead>\n', '</thead>\n<tbody>\n'), htmlRow('td', '', '')];
  return writeRows(rows, {
    start:
      '<!DOCTYPE html>\n<html>\n<head>\n<meta charset="utf-8">\n<title>Table</title>\n</head>\n<body>\n<table style="white-space: pre-wrap">\n',
    writeRow: (out, batch, row, number) => (number === 0 ? header : body)(out, batch, row),
    end: () => '</tbody>\n</table>\n</body>\n</html>\n',
  });
}

/** Writes a table of GitHub Flavored Markdown. */
export function writeMarkdown(rows: TableRows, warn: Warn): AsyncGenerator<Uint8Array> {
  let columns = 0;
  return writeRows(rows, {
    writeRow: (out, batch, row, number) => {
      const cells = batch.textsOf(row).map(markdownText);
      out.appendText(markdownLine(cells));
      if (number === 0) {
        columns = cells.length;
        out.appendText(markdownLine(cells.map(() => '---')));
      } else if (cells.length > columns) warn(WIDER_ROWS);
    },
  });
}

function delimitedFormat(delimiter: string, quoted: string): RowFormat {
  const between = Buffer.from(delimiter);
  const isQuoted = Uint8Array.from({ length: 128 }, (_, code) => (quoted.includes(String.fromCharCode(code)) ? 1 : 0));
  const writeCell = (out: TextBuffer, batch: RowBatch, cell: number): void => {
    if (!needsQuotes(batch, cell, isQuoted)) return appendCell(out, batch, cell, UNCHANGED);
    out.append(QUOTE);
    appendCell(out, batch, cell, DOUBLED_QUOTES);
    out.append(QUOTE);
  };
  return {
    writeRow: (out, batch, row) => {
      const [first = 0, end = 0] = [batch.firstCells[row], batch.firstCells[row + 1]];
      for (let cell = first; cell < end; cell += 1) {
        if (cell > first) out.append(between);
        writeCell(out, batch, cell);
      }
      // Readers skip an empty line.
      if (end - first === 1 && batch.starts[first] === batch.ends[first]) out.append(EMPTY_CELL);
      out.append(LINE_FEED);
    },
  };
}

function needsQuotes(batch: RowBatch, cell: number, isQuoted: Uint8Array): boolean {
  const { bytes } = batch;
  const [from = 0, to = 0] = [batch.starts[cell], batch.ends[cell]];
  for (let at = from; at < to; at += 1) if (isQuoted[bytes[at] ?? 0] === 1) return true;
  // Other whitespace than ASCII has more than one byte.
  return mayBeBlank(bytes[from]) || mayBeBlank(bytes[to - 1]) ? BLANK_EDGE.test(batch.textOf(cell)) : false;
}

function mayBeBlank(byte = 0): boolean {
  return byte <= 0x20 || byte >= 0x80;
}

function appendCell(out: TextBuffer, batch: RowBatch, cell: number, escapes: Escapes): void {
  out.appendEscaped(batch.bytes, batch.starts[cell] ?? 0, batch.ends[cell] ?? 0, escapes);
}

/** Text around and between objects, and the file without any. */
interface ObjectSyntax {
  readonly start: string;
  readonly between: string;
  readonly end: string;
  readonly empty: string;
}

function objectFormat({ start, between, end, empty }: ObjectSyntax): RowFormat {
  const [opening, separator] = [Buffer.from(start), Buffer.from(between)];
  let header: readonly string[] = [];
  let keys: readonly Buffer[] = [];
  return {
    writeRow: (out, batch, row, number) => {
      if (number === 0) {
        header = batch.textsOf(row);
        keys = keysOf(header);
        return;
      }
      const first = batch.firstCells[row] ?? 0;
      const columns = (batch.firstCells[row + 1] ?? 0) - first;
      if (columns > keys.length) keys = keysOf(widened(header, columns * 2));
      out.append(number === 1 ? opening : separator);
      const width = Math.max(header.length, columns);
      for (let column = 0; column < width; column += 1) {
        out.append(keys[column] ?? LINE_FEED);
        if (column < columns) appendCell(out, batch, first + column, JSON_ESCAPES);
      }
      out.append(width === 0 ? EMPTY_OBJECT : OBJECT_END);
    },
    end: (rows) => (rows <= 1 ? empty : end),
  };
}

/** Appends empty cells; more than needed, because rows may grow one by one. */
function widened(header: readonly string[], width: number): readonly string[] {
  return [...header, ...Array.from({ length: Math.max(0, width - header.length) }, () => '')];
}

/** Returns the text before each value. Not by JSON.stringify of an object, which would reorder keys such as `10`. */
function keysOf(header: readonly string[]): Buffer[] {
  return headerNames(header).map((name, column) =>
    Buffer.from(`${column === 0 ? '{' : '",'}${JSON.stringify(name)}:"`),
  );
}

function htmlRow(tag: string, before: string, after: string): (out: TextBuffer, batch: RowBatch, row: number) => void {
  const [rowStart, rowEnd] = [Buffer.from(`${before}<tr>`), Buffer.from(`</tr>\n${after}`)];
  const [cellStart, cellEnd] = [Buffer.from(`<${tag}>`), Buffer.from(`</${tag}>`)];
  return (out, batch, row) => {
    out.append(rowStart);
    for (let cell = batch.firstCells[row] ?? 0; cell < (batch.firstCells[row + 1] ?? 0); cell += 1) {
      out.append(cellStart);
      appendCell(out, batch, cell, HTML_ESCAPES);
      out.append(cellEnd);
    }
    out.append(rowEnd);
  };
}

function markdownLine(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |\n`;
}

/** Escapes Markdown syntax, and whitespace that readers would drop. */
function markdownText(text: string): string {
  return text
    .replaceAll(/[\\|`*<[]|&(?=[#\w])|(?<!\w)_|_(?!\w)|~(?=~)|(?<=~)~/g, String.raw`\$&`)
    .replaceAll(/^\s|\s$|[\t\r\f\v\u{85}\u{2028}\u{2029}]/gu, (blank) =>
      blank === '\n' ? blank : `&#${blank.codePointAt(0)};`,
    )
    .replaceAll('\n', '<br>');
}
