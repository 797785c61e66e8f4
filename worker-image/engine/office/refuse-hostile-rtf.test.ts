import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { freshDirectory } from '#test/fixtures/engine-work.ts';
import { refuseHostileRtf } from '#worker-image/engine/office/refuse-hostile-rtf.ts';

async function check(text: string): Promise<void> {
  const path = join(await freshDirectory(), 'text.rtf');
  await writeFile(path, text);
  await refuseHostileRtf({ path, size: text.length }, new AbortController().signal);
}

describe('refuseHostileRtf', () => {
  it.each([
    ['text', '{\\rtf1 text}'],
    ['data within the file', `{\\rtf1 \\bin10 ${'x'.repeat(10)}}`],
    ['10,000 page breaks', `{\\rtf1 ${'\\page '.repeat(10_000)}}`],
    ['groups 5,000 levels deep', '{'.repeat(5000) + '}'.repeat(5000)],
    ['many groups side by side', `{\\rtf1 ${'{\\b x}'.repeat(20_000)}}`],
    ['escaped braces', `{\\rtf1 ${'\\{'.repeat(20_000)}}`],
    ['braces in data', `{\\rtf1 \\bin20000 ${'{'.repeat(20_000)}}`],
    ['control words that begin like a page break', `{\\rtf1 ${'\\pagebb \\sectd '.repeat(10_001)}}`],
  ])('accepts %s', async (_what, text) => {
    await expect(check(text)).resolves.toBeUndefined();
  });

  it.each([
    ['more data than the file has', '{\\rtf1 \\bin2147483647 x}', 'processing_failed'],
    ['too many page breaks', `{\\rtf1 ${'\\page '.repeat(10_100)}}`, 'limit_exceeded'],
    ['groups that are nested too deeply', `{\\rtf1 ${'{\\b '.repeat(70_000)}`, 'limit_exceeded'],
    ['nested groups behind data', `{\\rtf1 \\bin10 ${'}'.repeat(10)}${'{'.repeat(5000)}`, 'limit_exceeded'],
    ['too many sections', `{\\rtf1 ${'\\sect\n'.repeat(10_100)}}`, 'limit_exceeded'],
  ])('refuses %s', async (_what, text, code) => {
    await expect(check(text)).rejects.toMatchObject({ code });
  });

  it.each([1, 5, 16, 24])('finds a length that begins %d bytes before the end of a chunk', async (before) => {
    const text = `{\\rtf1 ${'x'.repeat(64 * 1024 - 7 - before)}\\bin2147483647 x}`;
    await expect(check(text)).rejects.toMatchObject({ code: 'processing_failed' });
  });
});
