import { describe, expect, it } from 'vitest';
import { readCsv, readTsv } from '#worker-image/engine/table/read-delimited.ts';
import type { RowBatch } from '#worker-image/engine/table/row-batch.ts';
import { MAX_COLUMNS } from '#worker-image/engine/table/table-row.ts';

function textsOf(batch: RowBatch): string[][] {
  return Array.from({ length: batch.rows }, (_, row) => batch.textsOf(row));
}

async function rowsOf(read: typeof readCsv, ...pieces: readonly string[]): Promise<(readonly string[])[]> {
  const rows: (readonly string[])[] = [];
  const open = async function* (): AsyncGenerator<Uint8Array> {
    for (const piece of pieces) yield Buffer.from(piece);
  };
  for await (const batch of read(open)) rows.push(...textsOf(batch));
  return rows;
}

describe('readCsv', () => {
  it.each([
    [
      'a,b\r\n1,2\r3,4\n',
      [
        ['a', 'b'],
        ['1', '2'],
        ['3', '4'],
      ],
    ],
    ['sep=;\na;b,c\n', [['a', 'b,c']]],
    ['SEP=|\r\na|b\n', [['a', 'b']]],
    [
      'a,b\n\n1,2\n',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    ['a\n\nb\n', [['a'], [''], ['b']]],
    [
      'a;b\n"x;""y""\nz";1\n',
      [
        ['a', 'b'],
        ['x;"y"\nz', '1'],
      ],
    ],
    ['a,b\n1\n1,2,3\n', [['a', 'b'], ['1'], ['1', '2', '3']]],
    ['', []],
  ])('reads %j', async (text, rows) => {
    expect(await rowsOf(readCsv, text)).toEqual(rows);
    expect(await rowsOf(readCsv, ...text.split(''))).toEqual(rows);
  });

  it('refuses an unclosed quote, and too many columns', async () => {
    await expect(rowsOf(readCsv, 'a,b\n"x,1\n2,3\n')).rejects.toMatchObject({ code: 'processing_failed' });
    await expect(rowsOf(readCsv, ','.repeat(MAX_COLUMNS))).rejects.toMatchObject({ code: 'limit_exceeded' });
  });
});

describe('readTsv', () => {
  it('splits at tabs only', async () => {
    expect(await rowsOf(readTsv, 'a\tb,c;d\n1\t2\n')).toEqual([
      ['a', 'b,c;d'],
      ['1', '2'],
    ]);
  });

  it('keeps the empty lines of a table without tabs', async () => {
    expect(await rowsOf(readTsv, 'a\n\nb\n')).toEqual([['a'], [''], ['b']]);
    expect(await rowsOf(readTsv, 'a\tb\n\n1\t2\n')).toEqual([
      ['a', 'b'],
      ['1', '2'],
    ]);
  });

  it('reads 250 KB of comments before the first tab in linear time', { timeout: 10_000 }, async () => {
    const rows = await rowsOf(readTsv, `${'# comment\n'.repeat(25_000)}a\tb\n`);
    expect([rows.length, rows.at(-1)]).toEqual([25_001, ['a', 'b']]);
  });
});
