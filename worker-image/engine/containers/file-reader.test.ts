import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withFileReader } from '#worker-image/engine/containers/file-reader.ts';

let path: string;
beforeAll(async () => {
  path = join(await mkdtemp(join(tmpdir(), 'file-reader-')), 'file');
  await writeFile(path, '0123456789');
});
afterAll(() => rm(join(path, '..'), { recursive: true }));

describe('withFileReader', () => {
  it('provides the size and the first bytes', async () => {
    expect(await withFileReader(path, async ({ size, head }) => [size, head.toString()])).toEqual([10, '0123456789']);
  });

  it.each([
    [2, 3, '234'],
    [8, 100, '89'],
    [10, 5, ''],
    [2 ** 60, 5, ''],
    [3, -1, ''],
    [0, 2 ** 60, '0123456789'],
  ])('reads at %d the part of %d bytes that is inside the file: %j', async (offset, length, expected) => {
    expect((await withFileReader(path, (file) => file.read(offset, length))).toString()).toBe(expected);
  });

  it('closes the file when the caller throws', async () => {
    let leaked: (offset: number, length: number) => Promise<Buffer> = () => Promise.resolve(Buffer.alloc(0));
    const failed = withFileReader(path, (file) => {
      leaked = file.read;
      return Promise.reject(new Error('no'));
    });
    await expect(failed).rejects.toThrow('no');
    await expect(leaked(0, 1)).rejects.toThrow('closed');
  });
});
