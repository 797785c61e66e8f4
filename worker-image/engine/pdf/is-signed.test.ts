import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { freshDirectory } from '#test/fixtures/engine-work.ts';
import type { Work } from '#worker-image/engine/handler.ts';
import { isSigned } from '#worker-image/engine/pdf/is-signed.ts';

async function decide(text: string): Promise<boolean> {
  const path = join(await freshDirectory(), 'file.pdf');
  await writeFile(path, text);
  return isSigned({ signal: new AbortController().signal }, { input: { path } } as Pick<Work, 'input'>);
}

describe('isSigned', () => {
  it.each([
    ['/ByteRange [0 10 20 30]', true],
    ['/ByteRange[0 10 20 30]', true],
    ['/ByteRange \n [0', true],
    ['/ByteRange 7 0 R', false],
    ['', false],
  ])('returns whether %j is signed: %j', async (text, expected) => {
    expect(await decide(text)).toBe(expected);
  });

  it.each([1, 5, 10, 12])('finds a signature %d bytes before the end of a chunk', async (before) => {
    expect(await decide(`${'x'.repeat(64 * 1024 - before)}/ByteRange [0 1]`)).toBe(true);
  });
});
