import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Format } from '#crds/catalogue/formats.ts';
import { engineDeps, freshDirectory, runHandler, workOn } from '#test/fixtures/engine-work.ts';
import { odf } from '#test/hostile/forge-office.ts';
import { sheetHandler } from '#worker-image/engine/office/office-handler.ts';

async function convert(path: string, format: Format, to: string): Promise<string> {
  const work = await workOn({ path, format, operation: 'convert', options: { convert: { to } } });
  return (await runHandler(sheetHandler, work)).path;
}

async function saved(format: 'ods' | 'fods', body: string, before = ''): Promise<string> {
  const path = join(await freshDirectory(), `workbook.${format}`);
  await writeFile(path, odf(format === 'fods', { type: 'spreadsheet', before, body }));
  return path;
}

async function csvRows(path: string, format: Format): Promise<string[]> {
  return (await readFile(await convert(path, format, 'csv'), 'utf8')).trimEnd().split('\n');
}

const cell = (type: string, value: string, more = ''): string =>
  `<table:table-cell office:value-type="${type}" office:${type === 'float' ? '' : `${type}-`}value="${value}"${more}/>`;
const row = (cells: readonly string[], more = ''): string =>
  `<table:table-row${more}>${cells.join('')}</table:table-row>`;
const table = (rows: readonly string[]): string => `<table:table table:name="A">${rows.join('')}</table:table>`;

const DAY = cell('date', '2024-02-29');
const TYPED = table([
  row([DAY, cell('date', '1850-05-06T13:14:15'), cell('time', 'PT13H14M15S'), cell('boolean', 'true')]),
  row([DAY, cell('date', '2024-03-01T00:00:00'), cell('time', 'PT25H'), cell('boolean', 'false')]),
]);
const SHOWN = ['2024-02-29,1850-05-06 13:14:15,13:14:15,TRUE', '2024-02-29,2024-03-01 00:00:00,25:00:00,FALSE'];

describe('cells of a type without a style', () => {
  it.each(['ods', 'fods'] as const)('are dates, times and booleans in CSV and in xlsx (%s)', async (format) => {
    const path = await saved(format, TYPED);
    expect(await csvRows(path, format)).toEqual(SHOWN);
    expect(await csvRows(await convert(path, format, 'xlsx'), 'xlsx')).toEqual(SHOWN);
  });

  it('have columns that are wide enough in PDF', async () => {
    const directory = await freshDirectory();
    const args = [await convert(await saved('ods', TYPED), 'ods', 'pdf'), '-'];
    const { signal } = new AbortController();
    const { stdout } = await engineDeps().run({ file: 'pdftotext', args, directory, signal, timeoutSeconds: 30 });
    expect(stdout).toContain('1850-05-06 13:14:15');
  });

  it('are those of repeated columns and rows, at their places', async () => {
    const chart = `<table:shapes>${table([row([DAY, DAY])])}</table:shapes>`;
    const empty = '<table:covered-table-cell table:number-columns-repeated="2"/>';
    const body = table([
      chart,
      row([cell('float', '7')], ' table:number-rows-repeated="2"'),
      `<table:table-header-rows>${row([cell('float', '1'), empty, cell('date', '2024-02-29', ' table:number-columns-repeated="2"'), cell('float', '2')], ' table:number-rows-repeated="2"')}</table:table-header-rows>`,
      row([DAY, cell('float', '3')]),
    ]);
    const repeated = '1,,,2024-02-29,2024-02-29,2';
    expect(await csvRows(await saved('ods', body), 'ods')).toEqual([
      '7,,,,,',
      '7,,,,,',
      repeated,
      repeated,
      '2024-02-29,3,,,,',
    ]);
  });

  it('keep the number format of their style, as formulas do', async () => {
    const day = `<number:date-style xmlns:number="urn:oasis:names:tc:opendocument:xmlns:datastyle:1.0" style:name="N1"><number:day/><number:text>.</number:text><number:month/></number:date-style>`;
    const style = `<style:style style:name="ce1" style:family="table-cell" style:data-style-name="N1"/>`;
    const formula = `<table:table-cell table:formula="of:=1=1" office:value-type="boolean" office:boolean-value="true"/>`;
    const cells = [cell('date', '2024-02-29', ' table:style-name="ce1"'), DAY, formula];
    const column = '<table:table-column table:default-cell-style-name="ce1"/>';
    const body = table([column, row(cells), row([DAY])]);
    const before = `<office:automatic-styles>${day}${style}</office:automatic-styles>`;
    expect(await csvRows(await saved('ods', body, before), 'ods')).toEqual(['29.2,2024-02-29,TRUE', '29.2,,']);
  });
});
