import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Format } from '#crds/catalogue/formats.ts';
import { freshDirectory, runHandler, workOn } from '#test/fixtures/engine-work.ts';
import { xlsx } from '#test/hostile/forge-office.ts';
import { ole2 } from '#test/hostile/forge-ole2.ts';
import { record } from '#test/hostile/forge-xls.ts';
import { sheetHandler } from '#worker-image/engine/office/office-handler.ts';

async function convert(path: string, format: Format, to: string): Promise<string> {
  const work = await workOn({ path, format, operation: 'convert', options: { convert: { to } } });
  return (await runHandler(sheetHandler, work)).path;
}

async function saved(bytes: Buffer, format: Format): Promise<string> {
  const path = join(await freshDirectory(), `workbook.${format}`);
  await writeFile(path, bytes);
  return path;
}

/** Returns the rows of CSV after the first one. */
async function csvRows(path: string, format: Format): Promise<string[]> {
  return (await readFile(await convert(path, format, 'csv'), 'utf8')).trimEnd().split('\n').slice(1);
}

/** Returns a workbook of formulas in column B, with their stored values. */
function formulas(cells: readonly (readonly [formula: string, stored: string])[], workbook: string): Buffer {
  const rows = cells.map(
    ([formula, stored], index) =>
      `<row r="${index + 2}"><c r="A${index + 2}"><v>${index}</v></c><c r="B${index + 2}"><f>${formula}</f>${stored}</c></row>`,
  );
  return xlsx({ rows: rows.join(''), workbook });
}

/** Returns an xls workbook of formulas for which xlwt stores an empty text, as it does for all: an unknown name and 1/0. */
function xlwt(): Buffer {
  const formula = (column: number, tokens: readonly number[]): Buffer => {
    const stored = [3, 0, 0, 0, 0, 0, 0xff, 0xff];
    return record(0x06, Buffer.from([0, 0, column, 0, 0, 0, ...stored, 0, 0, 0, 0, 0, 0, tokens.length, 0, ...tokens]));
  };
  const start = (kind: number): Buffer =>
    record(0x809, Buffer.concat([Buffer.from([0, 6, kind, 0]), Buffer.alloc(12)]));
  const sheet = (at: number): Buffer => record(0x85, Buffer.from([at, 0, 0, 0, 0, 0, 1, 0, 65]));
  const globals = (at: number): Buffer => Buffer.concat([start(5), sheet(at), record(0x0a)]);
  // LibreOffice skips the first record of a sheet.
  const cells = [record(0x200, Buffer.alloc(14)), formula(0, [0x1c, 0x1d]), formula(1, [0x1e, 1, 0, 0x1e, 0, 0, 6])];
  const stream = Buffer.concat([globals(globals(0).length), start(0x10), ...cells, record(0x0a), Buffer.alloc(4096)]);
  return ole2([{ name: 'Workbook', data: stream }]);
}

describe('a workbook that demands a calculation when it is opened', () => {
  const cells = [
    ['A2+7', '<v>0</v>'],
    ['B2*10', '<v>0</v>'],
    ['IF(A4=2,&quot;yes&quot;,&quot;no&quot;)', '<v>0</v>'],
    ['TRUE()', ''],
    ['_xlfn.UNKNOWN(1)', '<v>0</v>'],
    ['_xlfn.UNKNOWN(2)', '<v>12.5</v>'],
  ] as const;
  const shown = ['0,7', '1,70', '2,yes', '3,TRUE', '4,#NAME?', '5,12.5'];

  it.each(['1', 'true'])('has calculated values, and stored ones of unknown functions (%s)', async (value) => {
    const path = await saved(formulas(cells, `<calcPr fullCalcOnLoad="${value}"/>`), 'xlsx');
    expect(await csvRows(path, 'xlsx')).toEqual(shown);
  });

  it.each(['xlsx', 'ods'] as const)('has calculated values as %s', async (to) => {
    const path = await saved(formulas(cells.slice(0, 4), '<calcPr fullCalcOnLoad="1"/>'), 'xlsm');
    expect(await csvRows(await convert(path, 'xlsm', to), to)).toEqual(shown.slice(0, 4));
  });

  it('has stored values if it does not demand it', async () => {
    const path = await saved(formulas([['A2+7', '<v>5</v>']], '<calcPr fullCalcOnLoad="0"/>'), 'xlsx');
    expect(await csvRows(path, 'xlsx')).toEqual(['0,5']);
  });
});

it('an empty text that is stored for a formula in xls does not replace the error that LibreOffice calculates', async () => {
  const path = await saved(xlwt(), 'xls');
  expect(await readFile(await convert(path, 'xls', 'csv'), 'utf8')).toBe(',#DIV/0!\n');
});
