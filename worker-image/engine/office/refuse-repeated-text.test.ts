import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { freshDirectory } from '#test/fixtures/engine-work.ts';
import { zip, type ZipPart } from '#test/hostile/forge-zip.ts';
import { refuseRepeatedText } from '#worker-image/engine/office/refuse-repeated-text.ts';

/** Reads a workbook whose cells refer to the second of three texts, which has that length. */
async function read(length: number, cells: number): Promise<void> {
  const texts = `<sst><si/><si><t>${'x'.repeat(length)}</t></si><si><t>short</t></si></sst>`;
  const rows = '<row><c r="A1" t="s"><v>1</v></c><c t="n"><v>1</v></c><c t="s"><v>2</v></c></row>'.repeat(cells);
  return readParts([
    { name: 'xl/worksheets/sheet1.xml', data: `<worksheet><sheetData>${rows}</sheetData></worksheet>` },
    { name: 'xl/sharedStrings.xml', data: texts },
  ]);
}

async function readParts(parts: readonly ZipPart[]): Promise<void> {
  const path = join(await freshDirectory(), 'workbook.xlsx');
  await writeFile(path, zip(parts));
  return refuseRepeatedText(new AbortController().signal, { path, format: 'xlsx' });
}

describe('refuseRepeatedText', () => {
  it('refuses cells that repeat a long text to more than a gigabyte', async () => {
    await expect(read(1_000_000, 1010)).rejects.toMatchObject({ code: 'limit_exceeded' });
  });

  it.each([
    ['of less', 1_000_000, 990],
    ['that repeat a short text', 500, 100_000],
  ])('accepts cells %s', async (_what, length, cells) => {
    await expect(read(length, cells)).resolves.toBeUndefined();
  });

  it('reads tags without an end in linear time', { timeout: 20_000 }, async () => {
    const tag = Buffer.from(`<c ${'t="s" '.repeat(2700)}`);
    const parts = [
      { name: 'xl/worksheets/sheet1.xml', data: [{ data: tag, times: 4000 }] },
      { name: 'xl/sharedStrings.xml', data: `<sst><si><t>${'x'.repeat(2000)}</t></si></sst>` },
    ];
    await expect(readParts(parts)).resolves.toBeUndefined();
  });
});
