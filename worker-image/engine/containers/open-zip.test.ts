import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, it } from 'vitest';
import { freshDirectory } from '#test/fixtures/engine-work.ts';
import { zip } from '#test/hostile/forge-zip.ts';
import { openZip } from '#worker-image/engine/containers/open-zip.ts';

const PACKAGE = zip([
  { name: 'mimetype', data: 'text/plain' },
  { name: 'a.xml', data: '<a/>'.repeat(100) },
]);

let path = '';
beforeAll(async () => {
  path = join(await freshDirectory(), 'a.zip');
});

async function contentsOf(bytes: Buffer): Promise<Record<string, string>> {
  await writeFile(path, bytes);
  const file = await openZip(path);
  const contents: Record<string, string> = {};
  for await (const entry of file.eachEntry())
    contents[entry.fileName] = await text(await file.openReadStreamPromise(entry));
  file.close();
  return contents;
}

describe('a package', () => {
  const contents = { mimetype: 'text/plain', 'a.xml': '<a/>'.repeat(100) };

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['zeros', Buffer.alloc(65_000)],
    ['text', Buffer.from('appended by a mail program')],
  ])('is read with %s behind its end', async (_what, tail) => {
    expect(await contentsOf(Buffer.concat([PACKAGE, tail]))).toEqual(contents);
  });

  it.each([
    ['is truncated', PACKAGE.subarray(0, -10)],
    ['is empty', Buffer.alloc(0)],
    ['has no directory', Buffer.from('PK\x03\x04 and no more')],
  ])('that %s is refused', async (_what, bytes) => {
    await expect(contentsOf(bytes)).rejects.toThrow(Error);
  });
});
