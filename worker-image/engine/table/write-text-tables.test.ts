import { describe, expect, it } from 'vitest';
import { readCsv, readTsv } from '#worker-image/engine/table/read-delimited.ts';
import { readJson, readNdjson } from '#worker-image/engine/table/read-json.ts';
import { readMarkdown } from '#worker-image/engine/table/read-markdown.ts';
import type { TableRow, TableRows } from '#worker-image/engine/table/table-row.ts';
import {
  writeCsv,
  writeHtml,
  writeJson,
  writeMarkdown,
  writeNdjson,
  writeTsv,
} from '#worker-image/engine/table/write-text-tables.ts';

async function* rowsOf(rows: readonly TableRow[]): AsyncGenerator<TableRow> {
  yield* rows;
}

async function textOf(write: (rows: TableRows) => AsyncIterable<string>, rows: readonly TableRow[]): Promise<string> {
  let text = '';
  for await (const piece of write(rowsOf(rows))) text += piece;
  return text;
}

async function readBack(read: (open: () => AsyncIterable<string>) => TableRows, text: string): Promise<TableRow[]> {
  const rows: TableRow[] = [];
  const open = async function* (): AsyncGenerator<string> {
    yield text;
  };
  for await (const row of read(open)) rows.push(row);
  return rows;
}

/** Cells with every character that a format treats specially. */
const ODD: readonly TableRow[] = [
  ['name', 'value'],
  ['a,b;c|d\te', '"quoted"'],
  ['two\nlines', ' blanks '],
  ['', String.raw`\|*_<b>&amp;[x]`],
  ['=1+1', 'né'],
];

describe('a written table', () => {
  it.each([
    ['CSV', writeCsv, readCsv],
    ['TSV', writeTsv, readTsv],
    ['JSON', writeJson, readJson],
    ['NDJSON', writeNdjson, readNdjson],
    ['Markdown', writeMarkdown, (open: () => AsyncIterable<string>) => readMarkdown(open, () => {})],
  ] as const)('is read back from %s without a changed cell', async (_name, write, read) => {
    expect(await readBack(read, await textOf(write, ODD))).toEqual(ODD);
  });
});

describe('writeJson', () => {
  it('writes an empty array for a header alone, and names further columns', async () => {
    expect(JSON.parse(await textOf(writeJson, [['a']]))).toEqual([]);
    expect(JSON.parse(await textOf(writeJson, [['a'], ['1', '2'], []]))).toEqual([
      { a: '1', column_2: '2' },
      { a: '' },
    ]);
  });

  it('keeps the order of columns whose names are numbers', async () => {
    expect(
      await textOf(writeNdjson, [
        ['b', '10', '2'],
        ['1', '2', '3'],
      ]),
    ).toBe('{"b":"1","10":"2","2":"3"}\n');
  });
});

describe('writeHtml', () => {
  it('escapes markup', async () => {
    const html = await textOf(writeHtml, [['<script>'], ['a&b\nc\r']]);
    expect(html).toContain('<th>&lt;script&gt;</th>');
    expect(html).toContain('<td>a&amp;b<br>c&#13;</td>');
  });
});

describe('writeCsv', () => {
  it('quotes a row of one empty cell, which readers would skip', async () => {
    expect(await textOf(writeCsv, [['a'], [''], ['b']])).toBe('a\n""\nb\n');
  });
});
