import { strFromU8, unzipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { packRows } from '#worker-image/engine/table/row-batch.ts';
import type { TableRow } from '#worker-image/engine/table/table-row.ts';
import { SHEET_PART, writeXlsx } from '#worker-image/engine/table/write-xlsx.ts';

async function sheetOf(rows: readonly TableRow[]): Promise<string> {
  const source = async function* (): AsyncGenerator<TableRow> {
    yield* rows;
  };
  const pieces: Uint8Array[] = [];
  for await (const piece of writeXlsx(packRows(source()))) pieces.push(Buffer.from(piece));
  return strFromU8(unzipSync(Buffer.concat(pieces))[SHEET_PART] ?? new Uint8Array(0));
}

describe('writeXlsx', () => {
  it('writes each cell as text under its address, and no empty ones', async () => {
    const wide = Array.from({ length: 28 }, (_, column) => (column === 27 ? '=1' : ''));
    expect(await sheetOf([['a', ''], wide])).toMatch(
      /<sheetData><row r="1"><c r="A1" t="inlineStr"><is><t xml:space="preserve">a<\/t><\/is><\/c><\/row><row r="2"><c r="AB2" t="inlineStr"><is><t xml:space="preserve">=1<\/t><\/is><\/c><\/row><\/sheetData><\/worksheet>$/,
    );
  });

  it.each([
    ['<a&b>', '&lt;a&amp;b&gt;'],
    ['\0\r\x1f\ufffe\uffff', '_x0000__x000D__x001F__xFFFE__xFFFF_'],
    ['\t\n\x7f\ufffd é日😀', '\t\n\x7f\ufffd é日😀'],
    ['_x0041_ _x004g_ _x0041', '_x005F_x0041_ _x004g_ _x0041'],
    ['__x00e9__x00E9_', '__x005F_x00e9__x005F_x00E9_'],
    ['a\ud800', 'a\ufffd'],
  ])('escapes %j', async (text, escaped) => {
    expect(await sheetOf([[text]])).toContain(`<t xml:space="preserve">${escaped}</t>`);
  });

  it('writes a sheet of many pieces', async () => {
    const rows = Array.from({ length: 20_000 }, (_, row) => [`row ${row}`, 'x'.repeat(row % 50)]);
    const sheet = await sheetOf(rows);
    expect(sheet.match(/<row /g)?.length).toBe(rows.length);
    expect([...sheet.matchAll(/preserve">(row \d+)</g)].map(([, text]) => text)).toEqual(rows.map(([text]) => text));
  });

  it('counts characters, not bytes, of a long cell', async () => {
    expect(await sheetOf([['日'.repeat(32_767)]])).toContain('日</t>');
    await expect(sheetOf([['é'.repeat(32_768)]])).rejects.toThrow('32768 characters');
  });
});
