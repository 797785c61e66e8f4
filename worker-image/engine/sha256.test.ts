import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sha256 } from '#worker-image/engine/sha256.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sha256-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function fileOf(bytes: Buffer): Promise<string> {
  const path = join(folder, 'file');
  await writeFile(path, bytes);
  return path;
}

describe('sha256', () => {
  it.each([
    ['an empty file', Buffer.alloc(0), 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
    ['abc', Buffer.from('abc'), 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
    ['a million a', Buffer.alloc(1_000_000, 'a'), 'cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0'],
  ])('returns the published digest of %s', async (_what, bytes, digest) => {
    expect(await sha256(await fileOf(bytes))).toBe(digest);
  });

  it('throws the reason of the signal on abort', async () => {
    const path = await fileOf(Buffer.from('abc'));
    await expect(sha256(path, AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough');
  });
});
