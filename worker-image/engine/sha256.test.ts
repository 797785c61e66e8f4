import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { freshDirectory } from '#test/fixtures/engine-work.ts';
import { sha256 } from '#worker-image/engine/sha256.ts';

async function fileOf(bytes: Buffer): Promise<string> {
  const path = join(await freshDirectory(), 'file');
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
