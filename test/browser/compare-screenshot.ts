/**
 * Compares a page with a stored image of it, so that a broken layout fails. `UPDATE_SCREENSHOTS=1` stores the images anew.
 * Both are half as large as the screen, with few colors: small files, in which the edges of letters hardly count.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { Page } from 'playwright-core';
import sharp from 'sharp';
import { expect } from 'vitest';

const FOLDER = path.resolve('test/browser/screenshots');
const OUTPUT = path.resolve('test/output/browser');
/** Share of pixels that may differ, for other versions of fonts and of the browser. */
const MAX_DIFFERENT = 0.01;

type Compare = (
  actual: Buffer,
  expected: Buffer,
  options: { readonly maxDiffPixelRatio: number },
) => { readonly errorMessage: string; readonly diff?: Buffer } | null;
/** The comparison of Playwright's test runner. */
const { utils } = createRequire(import.meta.url)('playwright-core/lib/coreBundle') as {
  utils: { getComparator: (mediaType: string) => Compare };
};
const compare = utils.getComparator('image/png');

export async function compareScreenshot(page: Page, name: string): Promise<void> {
  await page.evaluate(FIX_TEXTS);
  const screen = await page.screenshot({ animations: 'disabled' });
  const { width } = await sharp(screen).metadata();
  const actual = await sharp(screen)
    .resize({ width: width / 2 })
    .png({ palette: true, colours: 32, dither: 0, compressionLevel: 9 })
    .toBuffer();
  const file = path.join(FOLDER, `${name}.png`);
  if (process.env['UPDATE_SCREENSHOTS'] !== undefined) {
    mkdirSync(FOLDER, { recursive: true });
    writeFileSync(file, actual);
    await page.screenshot({ path: path.join(OUTPUT, `whole-${name}.png`), fullPage: true });
    return;
  }
  expect(existsSync(file), `${file} is missing: run with UPDATE_SCREENSHOTS=1`).toBe(true);
  const difference = compare(actual, readFileSync(file), { maxDiffPixelRatio: MAX_DIFFERENT });
  if (difference === null) return;
  mkdirSync(OUTPUT, { recursive: true });
  writeFileSync(path.join(OUTPUT, `${name}-actual.png`), actual);
  if (difference.diff !== undefined) writeFileSync(path.join(OUTPUT, `${name}-difference.png`), difference.diff);
  expect.unreachable(`${name}: ${difference.errorMessage} See test/output/browser/${name}-difference.png.`);
}

/** Replaces what differs in each run: times, durations, ids, keys and the port of the service. Photos become gray: they would be most of a stored image. */
const FIX_TEXTS = `
  for (const time of document.querySelectorAll('time')) time.textContent = '21 Nov 2026, 16:35';
  for (const photo of document.querySelectorAll('.compare :is(img, canvas)')) photo.style.filter = 'contrast(0)';
  for (const field of document.querySelectorAll('input[type=date]')) field.value = '2026-11-21';
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode;
    text.data = text.data
      .replace(/\\b(acc|job|evt|whk|key|upl|pre)_[0-9a-z]{20}\\b/g, '$1_' + '0'.repeat(20))
      .replace(/\\b(svc_(?:live|test)_)[^\\s"]+/g, '$1…0000')
      .replace(/localhost:\\d+/g, 'localhost:8443')
      .replace(/\\b\\d\\d:\\d\\d\\b/g, '16:35')
      .replace(/\\b[\\d.]+ s\\b/g, '0.5 s')
      .replace(/^[\\w-]{43}$/, '0'.repeat(43));
  }`;
