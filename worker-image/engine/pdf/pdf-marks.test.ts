import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { freshDirectory } from '#test/fixtures/engine-work.ts';
import type { Work } from '#worker-image/engine/handler.ts';
import { readPdfMarks, type PdfMarks } from '#worker-image/engine/pdf/pdf-marks.ts';

async function marksOf(text: string): Promise<PdfMarks> {
  const path = join(await freshDirectory(), 'file.pdf');
  await writeFile(path, text);
  return readPdfMarks({ signal: new AbortController().signal }, { input: { path } } as Pick<Work, 'input'>);
}

describe('readPdfMarks', () => {
  it.each([
    ['/ByteRange [0 10 20 30]', true],
    ['/ByteRange[0 10 20 30]', true],
    ['/ByteRange \n [0', true],
    ['/ByteRange 7 0 R', false],
    ['', false],
  ])('returns whether %j is signed: %j', async (text, isSigned) => {
    expect(await marksOf(text)).toMatchObject({ isSigned });
  });

  it.each([
    ['<pdfaid:part>1</pdfaid:part>', true],
    [`pdfaid:part='1' pdfaid:conformance='B'`, true],
    ['pdfaid:part = "1"', true],
    ['<pdfaid:part>2</pdfaid:part>', false],
    ['<pdfaid:part>10</pdfaid:part>', false],
  ])('returns whether %j claims PDF/A-1: %j', async (text, isPdfA1) => {
    expect(await marksOf(text)).toMatchObject({ isPdfA1 });
  });

  it.each([1, 5, 10, 12])('finds marks %d bytes before the end of a chunk', async (before) => {
    const padding = 'x'.repeat(64 * 1024 - before);
    expect(await marksOf(`${padding}/ByteRange [0 1]`)).toMatchObject({ isSigned: true });
    expect(await marksOf(`${padding}<pdfaid:part>1<`)).toMatchObject({ isPdfA1: true });
  });
});
