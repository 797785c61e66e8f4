/** Results of PDF work: the same pages and words, and pages that look the same. */
import sharp from 'sharp';
import { expect } from 'vitest';
import { unpackedPdf, PLANTED_IN_PDF } from '#test/fixtures/make-pdf-fixtures.ts';
import { runTool } from '#test/fixtures/run-tool.ts';
import type { Look } from '#test/matrix/look.ts';
import { distance, lookAt } from '#test/matrix/picture.ts';

const TOLERANCE = 4;
/** What a page is rendered at unless the options say otherwise, over the points of an inch. */
const DEFAULT_SCALE = 144 / 72;

export async function comparePdf(look: Look): Promise<void> {
  const { cell, file, source, directory } = look;
  const { result } = file.report;
  const [before, after] = [
    await lookAt(source, 'pdf', directory),
    await lookAt(file.path, result.output_format, directory),
  ];
  expect(distance(before, after)).toBeLessThan(TOLERANCE);
  if (cell.operation === 'convert') {
    const { width, height } = await sharp(file.path).metadata();
    expect({ width, height }).toEqual({ width: before.width * DEFAULT_SCALE, height: before.height * DEFAULT_SCALE });
    return;
  }
  expect(await wordsOf(file.path, directory)).toEqual(await wordsOf(source, directory));
  expect(await pagesOf(file.path, directory)).toBe(await pagesOf(source, directory));
  expect(result.pages).toBe(await pagesOf(source, directory));
  if (cell.operation === 'strip_metadata') {
    const bytes = await unpackedPdf(directory, file.path);
    expect(PLANTED_IN_PDF.filter((words) => bytes.includes(words))).toEqual([]);
  }
}

/** In the order of the pages, white space aside. */
export async function wordsOf(path: string, directory: string): Promise<string[]> {
  return (await runTool(directory, 'pdftotext', [path, '-'])).split(/\s+/).filter((word) => word !== '');
}

export async function pagesOf(path: string, directory: string): Promise<number> {
  return Number(/^Pages:\s+(\d+)/m.exec(await runTool(directory, 'pdfinfo', [path]))?.[1]);
}
