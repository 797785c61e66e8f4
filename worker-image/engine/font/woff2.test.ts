import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { engineDeps, freshDirectory } from '#test/fixtures/engine-work.ts';
import { makeFontFixtures } from '#test/fixtures/make-font-fixtures.ts';
import { readWoff2, writeWoff2 } from '#worker-image/engine/font/woff2.ts';

let directory = '';
let sfnt: Buffer;
let woff2: Buffer;

beforeAll(async () => {
  directory = await freshDirectory();
  const fixtures = await makeFontFixtures(directory);
  const bytesOf = (format: string): Promise<Buffer> =>
    readFile(fixtures.find((fixture) => fixture.format === format)?.path ?? '');
  [sfnt, woff2] = await Promise.all([bytesOf('ttf'), bytesOf('woff2')]);
});

function read(bytes: Buffer): Promise<Buffer> {
  return readWoff2(engineDeps(), { bytes, directory, name: 'read' });
}

function changed(at: number, value: number): Buffer {
  const bytes = Buffer.from(woff2);
  bytes.writeUInt32BE(value, at);
  return bytes;
}

describe('a WOFF2 font', () => {
  it('is written smaller than the TrueType font and read back as one', async () => {
    const written = await writeWoff2(engineDeps(), { bytes: sfnt, directory, name: 'written' });
    expect(written.length).toBeLessThan(sfnt.length);
    expect((await read(written)).readUInt32BE(0)).toBe(sfnt.readUInt32BE(0));
  });

  it('of more than 30 MiB uncompressed is neither written nor read', async () => {
    const large = Buffer.alloc(30 * 1024 ** 2 + 1);
    const written = writeWoff2(engineDeps(), { bytes: large, directory, name: 'large' });
    await expect(written).rejects.toMatchObject({ code: 'limit_exceeded' });
    await expect(read(changed(16, large.length))).rejects.toThrow('maximum is 31457280');
  });

  it.each<[string, () => Buffer, string]>([
    ['another signature', () => changed(0, 0x774f_4646), 'no WOFF2 font'],
    ['a truncated header', () => woff2.subarray(0, 47), 'no WOFF2 font'],
    ['a collection of fonts', () => changed(4, 0x7474_6366), 'does not contain a single font'],
    ['less bytes than its header says', () => woff2.subarray(0, -1), 'truncated'],
  ])('is refused with %s', async (_what, bytes, reason) => {
    await expect(read(bytes())).rejects.toThrow(reason);
  });

  it('is refused with damaged tables, also after another font was read in its directory', async () => {
    await read(woff2);
    const bytes = Buffer.from(woff2).fill(0xff, 100, woff2.length - 4);
    await expect(read(bytes)).rejects.toThrow(/woff2_decompress/);
  });
});
