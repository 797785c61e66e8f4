import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { zipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { freshDirectory } from '#test/fixtures/engine-work.ts';
import { countXlsxRows } from '#worker-image/engine/table/count-xlsx-rows.ts';
import { SHEET_PART } from '#worker-image/engine/table/write-xlsx.ts';

async function packageOf(parts: Readonly<Record<string, string>>): Promise<string> {
  const path = join(await freshDirectory(), 'table.xlsx');
  const entries = Object.entries(parts).map(([name, text]) => [name, Buffer.from(text)] as const);
  await writeFile(path, zipSync(Object.fromEntries(entries)));
  return path;
}

describe('countXlsxRows', () => {
  it('counts the rows of the sheet, also across the pieces of a long part', async () => {
    const rows = '<row r="1"><c/></row>'.repeat(100_000);
    expect(await countXlsxRows(await packageOf({ other: '<row />', [SHEET_PART]: `<sheetData>${rows}` }))).toBe(
      100_000,
    );
  });

  it('throws for a package without the sheet, and for a file that is none', async () => {
    await expect(countXlsxRows(await packageOf({ other: 'x' }))).rejects.toThrow(SHEET_PART);
    const path = join(await freshDirectory(), 'none.xlsx');
    await writeFile(path, 'nothing of the kind');
    await expect(countXlsxRows(path)).rejects.toThrow();
  });
});
