import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Format } from '#crds/catalogue/formats.ts';
import { freshDirectory } from '#test/fixtures/engine-work.ts';
import { odf } from '#test/hostile/forge-office.ts';
import { ole2 } from '#test/hostile/forge-ole2.ts';
import { record } from '#test/hostile/forge-xls.ts';
import { zip } from '#test/hostile/forge-zip.ts';
import { omittedSheetsWarnings } from '#worker-image/engine/office/omitted-sheets-warning.ts';

async function warningsOf(bytes: Buffer, format: Format): Promise<string[]> {
  const path = join(await freshDirectory(), 'workbook');
  await writeFile(path, bytes);
  return omittedSheetsWarnings(path, format);
}

const workbook = (sheets: string): Buffer =>
  zip([{ name: 'xl/workbook.xml', data: `<workbook><sheets>${sheets}</sheets></workbook>` }]);
const TABLE = '<table:table table:name="A"><table:table-row/></table:table>';

/** Returns the start of an xls workbook with sheets of these kinds. The second one is hidden. */
function xls(kinds: readonly number[]): Buffer {
  const styles = record(0xe0, Buffer.alloc(6000));
  const sheets = kinds.map((kind, index) =>
    record(0x85, Buffer.from([0, 0, 0, 0, index === 1 ? 1 : 0, kind, 1, 0, 65])),
  );
  return ole2([
    { name: 'Workbook', data: Buffer.concat([record(0x809, Buffer.alloc(16)), styles, ...sheets, record(0x0a)]) },
  ]);
}

describe('omittedSheetsWarnings', () => {
  it.each(['xlsx', 'xlsm'] as const)('counts the sheets of %s, including hidden ones', async (format) => {
    const three = '<sheet name="A"/><sheet name="B" state="hidden"/><sheet name="C"></sheet>';
    expect(await warningsOf(workbook(three), format)).toEqual([
      'A csv file contains one sheet: the other 2 were dropped.',
    ]);
  });

  it('counts sheets with any namespace prefix, and has another text for one omitted sheet', async () => {
    expect(await warningsOf(workbook('<x:sheet name="A"/><x:sheet name="B"/>'), 'xlsx')).toEqual([
      'A csv file contains one sheet: the other one was dropped.',
    ]);
  });

  it.each(['workbook.xml', 'xl/book1.xml'])('counts the sheets of a workbook in the part %s', async (name) => {
    const sheets = '<workbook><sheets><sheet name="A"/><sheet name="B"/></sheets></workbook>';
    const other = { name: 'xl/styles.xml', data: '<styleSheet/>' };
    expect(await warningsOf(zip([{ name, data: sheets }, other]), 'xlsx')).toEqual([
      'A csv file contains one sheet: the other one was dropped.',
    ]);
  });

  it.each([
    ['ods', false],
    ['fods', true],
  ] as const)('counts the tables of %s', async (format, flat) => {
    expect(await warningsOf(odf(flat, { type: 'spreadsheet', body: TABLE.repeat(3) }), format)).toEqual([
      'A csv file contains one sheet: the other 2 were dropped.',
    ]);
  });

  it('counts the sheets of xls, including hidden ones, without modules of macros', async () => {
    expect(await warningsOf(xls([0, 0, 2, 6]), 'xls')).toEqual([
      'A csv file contains one sheet: the other 2 were dropped.',
    ]);
    expect(await warningsOf(xls([0, 6]), 'xls')).toEqual([]);
  });

  it.each([
    ['one sheet', TABLE],
    ['the table of a chart in a sheet', TABLE.replace('<table:table-row/>', `<table:shapes>${TABLE}</table:shapes>`)],
    ['cached sheets of another workbook', TABLE + TABLE.replace('>', ' table:style-name="ta_extref">')],
  ])('does not warn about %s', async (_what, body) => {
    expect(await warningsOf(odf(true, { type: 'spreadsheet', body }), 'fods')).toEqual([]);
  });

  it('does not warn about a workbook that it cannot read', async () => {
    expect(await warningsOf(Buffer.from('not a package'), 'xlsx')).toEqual([]);
    expect(await warningsOf(Buffer.from('not a package'), 'xls')).toEqual([]);
  });
});
