import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { freshDirectory } from '#test/fixtures/engine-work.ts';
import { xlsx } from '#test/hostile/forge-office.ts';
import { refuseOversizedLayout } from '#worker-image/engine/office/refuse-oversized-layout.ts';

async function refuseSheet(rows: string): Promise<void> {
  const path = join(await freshDirectory(), 'sheet.xlsx');
  await writeFile(path, xlsx({ rows }));
  await refuseOversizedLayout(new AbortController().signal, { path, format: 'xlsx' });
}

const cell = (name: string): string => {
  const row = /\d+/.exec(name)?.[0];
  return `<row r="${row}"><c r="${name}"><v>1</v></c></row>`;
};

describe('refuseOversizedLayout', () => {
  it.each([
    ['a stray cell in the last row', cell('A1048576')],
    ['a stray cell in the last column', cell('XFD2')],
    ['a hundred columns of all rows', cell('CV1048576')],
    ['all columns of 50,000 rows', cell('XFD50000')],
  ])('accepts %s', async (_what, rows) => {
    await expect(refuseSheet(rows)).resolves.toBeUndefined();
  });

  it.each([
    ['in one corner', cell('XFD1048576')],
    ['in two corners', cell('XFD2') + cell('A1048576')],
  ])('refuses cells %s', async (_what, rows) => {
    await expect(refuseSheet(rows)).rejects.toMatchObject({
      code: 'limit_exceeded',
      message: expect.stringContaining('spans 17179869184 cells; at most 1000000000') as string,
    });
  });
});
