import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { beforeAll, describe, expect, it } from 'vitest';
import { engineDeps, freshDirectory, runHandler, workOn } from '#test/fixtures/engine-work.ts';
import { readPngChunks, makePngChunk } from '#worker-image/engine/containers/png-chunks.ts';
import { withoutThumbnail } from '#worker-image/engine/image/encode/exif-thumbnail.ts';
import { imageHandler } from '#worker-image/engine/image/image-handler.ts';
import { makeOrientationTiff } from '#worker-image/engine/image/strip/orientation-exif.ts';

let path = '';
let thumbnail: Buffer;

/** Runs exiftool and returns its output. */
async function exiftool(...args: readonly string[]): Promise<string> {
  const { stdout } = await engineDeps().run({
    file: 'exiftool',
    args,
    directory: await freshDirectory(),
    signal: new AbortController().signal,
    timeoutSeconds: 60,
  });
  return stdout;
}

beforeAll(async () => {
  const directory = await freshDirectory();
  path = join(directory, 'photo.jpg');
  const small = join(directory, 'small.jpg');
  const create = { width: 320, height: 240, channels: 3 as const, background: '#373' };
  const noise = { type: 'gaussian', mean: 128, sigma: 30 } as const;
  thumbnail = await sharp({ create }).resize(64, 48).jpeg().toBuffer();
  await writeFile(small, thumbnail);
  await sharp({ create: { ...create, noise } })
    .withMetadata({ orientation: 6 })
    .jpeg({ quality: 98 })
    .toFile(path);
  await exiftool('-q', '-overwrite_original', '-Make=Planted', `-ThumbnailImage<=${small}`, path);
});

describe('the thumbnail in kept EXIF', () => {
  it.each([
    ['convert', 'jpg'],
    ['convert', 'png'],
    ['convert', 'webp'],
    ['convert', 'avif'],
    ['convert', 'heic'],
    ['compress', 'jpg'],
    ['compress', 'png'],
    ['compress', 'webp'],
  ] as const)('is removed by %s to %s, and other details stay', async (operation, format) => {
    expect(await exiftool('-s', '-ThumbnailLength', path)).toContain(String(thumbnail.length));
    const options = { image: { format, strip_metadata: false }, convert: { to: format } };
    const produced = await runHandler(imageHandler, await workOn({ path, format: 'jpg', operation, options }));
    const found = await exiftool('-s', '-Make', '-ThumbnailLength', '-ThumbnailOffset', '-Error', produced.path);
    expect(found.trim()).toMatch(/^Make\s+: Planted$/);
    const file = await readFile(produced.path);
    expect(file.includes(thumbnail)).toBe(false);
    if (format !== 'png') return;
    const exif = readPngChunks(file)?.find(({ type }) => type === 'eXIf');
    expect(exif?.whole.equals(makePngChunk('eXIf', exif.data))).toBe(true);
  });
});

describe('withoutThumbnail', () => {
  it('returns null for EXIF without a thumbnail, and for damaged EXIF', () => {
    const linked = makeOrientationTiff(1);
    linked.writeUInt32BE(9999, 22);
    expect([makeOrientationTiff(1), linked, Buffer.alloc(3)].map(withoutThumbnail)).toEqual([null, null, null]);
  });

  it('keeps inside the block when the thumbnail claims to be longer', () => {
    const directory = Buffer.from(
      '0002 0201 0004 00000001 0000001a 0202 0004 00000001 7fffffff 00000000'.replaceAll(' ', ''),
      'hex',
    );
    const linked = Buffer.concat([makeOrientationTiff(6), directory]);
    linked.writeUInt32BE(26, 22);
    expect(withoutThumbnail(linked)).toEqual(Buffer.concat([makeOrientationTiff(6), Buffer.alloc(directory.length)]));
  });
});
