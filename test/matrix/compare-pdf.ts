/** Compares processed PDFs: pages, text and rendered appearance. */
import sharp from 'sharp';
import { expect } from 'vitest';
import { unpackedPdf, PLANTED_IN_PDF } from '#test/fixtures/make-pdf-fixtures.ts';
import { runTool } from '#test/fixtures/run-tool.ts';
import type { Comparison } from '#test/matrix/comparison.ts';
import { distance, openDisplayed } from '#test/matrix/displayed-image.ts';
import { readOnce } from '#test/matrix/read-once.ts';

const TOLERANCE = 4;
/** Default resolution of a rendered page, in pixels per point. */
const DEFAULT_SCALE = 144 / 72;

const readSource = readOnce(async (path, directory) => ({
  displayed: await openDisplayed(path, 'pdf', directory),
  words: await wordsOf(path, directory),
  pages: await pagesOf(path, directory),
}));

export async function comparePdf(comparison: Comparison): Promise<void> {
  const { cell, file, source, directory } = comparison;
  const { result } = file.report;
  const wanted = await readSource(source, directory);
  const before = wanted.displayed;
  const after = await openDisplayed(file.path, result.output_format, directory);
  expect(distance(before, after)).toBeLessThan(TOLERANCE);
  if (cell.operation === 'convert') {
    const { width, height } = await sharp(file.path).metadata();
    expect({ width, height }).toEqual({ width: before.width * DEFAULT_SCALE, height: before.height * DEFAULT_SCALE });
    return;
  }
  expect(await wordsOf(file.path, directory)).toEqual(wanted.words);
  expect(await pagesOf(file.path, directory)).toBe(wanted.pages);
  expect(result.pages).toBe(wanted.pages);
  if (cell.operation === 'strip_metadata') {
    const bytes = await unpackedPdf(directory, file.path);
    expect(PLANTED_IN_PDF.filter((words) => bytes.includes(words))).toEqual([]);
  }
}

/** Returns the text of the pages in order, without white space. */
export async function wordsOf(path: string, directory: string): Promise<string[]> {
  return (await runTool(directory, 'pdftotext', [path, '-'])).split(/\s+/).filter((word) => word !== '');
}

export async function pagesOf(path: string, directory: string): Promise<number> {
  return Number(/^Pages:\s+(\d+)/m.exec(await runTool(directory, 'pdfinfo', [path]))?.[1]);
}
