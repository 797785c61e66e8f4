import { describe, expect, it } from 'vitest';
import { readCsv, readTsv } from '#worker-image/engine/table/read-delimited.ts';
import { readJson, readNdjson } from '#worker-image/engine/table/read-json.ts';
import { readMarkdown } from '#worker-image/engine/table/read-markdown.ts';
import { packRows, type TableRows } from '#worker-image/engine/table/row-batch.ts';
import type { TableRow } from '#worker-image/engine/table/table-row.ts';
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

async function textOf(
  write: (rows: TableRows) => AsyncIterable<Uint8Array>,
  rows: readonly TableRow[],
): Promise<string> {
  let text = '';
  for await (const piece of write(packRows(rowsOf(rows)))) text += Buffer.from(piece).toString();
  return text;
}

async function readBack(read: (text: string) => TableRows, text: string): Promise<TableRow[]> {
  const rows: TableRow[] = [];
  for await (const batch of read(text)) for (let row = 0; row < batch.rows; row += 1) rows.push(batch.textsOf(row));
  return rows;
}

async function* once<Piece>(piece: Piece): AsyncGenerator<Piece> {
  yield piece;
}

const ignore = (): void => {};

/** Cells with every character that a format treats specially. */
const ODD: readonly TableRow[] = [
  ['name', 'value'],
  ['a,b;c|d\te', '"quoted"'],
  ['two\nlines', ' blanks '],
  ['', String.raw`\|*_<b>&amp;[x]`],
  ['=1+1', 'né'],
  ['~~a~~ ~b~ ~~~', '`\\d` ``<br>`` `&lt;'],
];

describe('a written table', () => {
  it.each([
    ['CSV', writeCsv, (text: string) => readCsv(() => once(Buffer.from(text)))],
    ['TSV', writeTsv, (text: string) => readTsv(() => once(Buffer.from(text)))],
    ['JSON', writeJson, (text: string) => packRows(readJson(() => once(text), ignore))],
    ['NDJSON', writeNdjson, (text: string) => packRows(readNdjson(() => once(text), ignore))],
    [
      'Markdown',
      (rows: TableRows) => writeMarkdown(rows, ignore),
      (text: string) => packRows(readMarkdown(() => once(text), ignore)),
    ],
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

describe('writeMarkdown', () => {
  it('warns of cells beyond the first row, which viewers do not display', async () => {
    const warnings = new Set<string>();
    const write = (rows: TableRows): AsyncIterable<Uint8Array> =>
      writeMarkdown(rows, (text) => void warnings.add(text));
    await textOf(write, [['a', 'b'], ['1'], ['2', '3']]);
    expect(warnings.size).toBe(0);
    expect(await textOf(write, [['a'], ['1', '2']])).toBe('| a |\n| --- |\n| 1 | 2 |\n');
    expect([...warnings]).toEqual([expect.stringContaining('Add column names, or choose html.')]);
  });

  it('escapes the marks of deleted text', async () => {
    expect(await textOf((rows) => writeMarkdown(rows, ignore), [['~~a~~', '~5']])).toContain(
      String.raw`| \~\~a\~\~ | ~5 |`,
    );
  });
});

describe('writeCsv', () => {
  it('quotes a row of one empty cell, which readers would skip', async () => {
    expect(await textOf(writeCsv, [['a'], [''], ['b']])).toBe('a\n""\nb\n');
  });
});
