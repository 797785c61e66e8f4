import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Format } from '#crds/catalogue/formats.ts';
import { freshDirectory } from '#test/fixtures/engine-work.ts';
import { odf } from '#test/hostile/forge-office.ts';
import { ole2 } from '#test/hostile/forge-ole2.ts';
import { record } from '#test/hostile/forge-xls.ts';
import { zip } from '#test/hostile/forge-zip.ts';
import { hiddenSheetsWarnings } from '#worker-image/engine/office/hidden-sheets-warning.ts';

async function warningsOf(bytes: Buffer, format: Format): Promise<string[]> {
  const path = join(await freshDirectory(), 'workbook');
  await writeFile(path, bytes);
  return hiddenSheetsWarnings(path, format);
}

const style = (name: string, display: boolean): string =>
  `<style:style style:name="${name}" style:family="table"><style:table-properties table:display="${display}"/></style:style>`;
const table = (name: string): string => `<table:table table:name="${name}" table:style-name="${name}"/>`;

describe('hiddenSheetsWarnings', () => {
  it.each([
    ['<sheet name="A"/><sheet name="B" state="visible"/>', []],
    ['<sheet name="A"/><sheet name="state hidden"/>', []],
    ['<sheet name="A"/><sheet name="B" sheetId="2" state="hidden" r:id="r2"/>', ['A hidden sheet was omitted.']],
    ['<x:sheet state=\'veryHidden\'/><sheet state="hidden"></sheet>', ['2 hidden sheets were omitted.']],
  ])('for the sheets %j are %j', async (sheets, warnings) => {
    const workbook = zip([{ name: 'xl/workbook.xml', data: `<workbook><sheets>${sheets}</sheets></workbook>` }]);
    for (const format of ['xlsx', 'xlsm'] as const) expect(await warningsOf(workbook, format)).toEqual(warnings);
  });

  it.each([
    ['ods', false],
    ['fods', true],
  ] as const)('count the tables of %s with a style that hides them, without cached ones', async (format, flat) => {
    const styles = style('shown', true) + style('secret', false) + style('ta_extref', false);
    const before = `<office:automatic-styles>${styles}</office:automatic-styles>`;
    const body = ['shown', 'secret', 'secret', 'ta_extref'].map(table).join('');
    const bytes = odf(flat, { type: 'spreadsheet', before, body });
    expect(await warningsOf(bytes, format)).toEqual(['2 hidden sheets were omitted.']);
  });

  it('count the hidden and the very hidden sheets of xls, without modules of macros', async () => {
    const sheets = [
      [0, 0],
      [1, 0],
      [2, 0],
      [1, 6],
    ].map((stateAndKind) => record(0x85, Buffer.from([0, 0, 0, 0, ...stateAndKind, 1, 0, 65])));
    const data = Buffer.concat([record(0x809, Buffer.alloc(6000)), ...sheets, record(0x0a)]);
    expect(await warningsOf(ole2([{ name: 'Workbook', data }]), 'xls')).toEqual(['2 hidden sheets were omitted.']);
  });

  it('are none for other formats and damaged files', async () => {
    expect(await warningsOf(Buffer.from('not a package'), 'xlsx')).toEqual([]);
    expect(await warningsOf(Buffer.from('not a package'), 'xls')).toEqual([]);
  });
});
