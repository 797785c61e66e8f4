import { readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { beforeAll, describe, expect, it } from 'vitest';
import { drawBmp } from '#test/fixtures/draw-bmp.ts';
import { engineDeps, freshDirectory, runHandler, workOn, type Fixture } from '#test/fixtures/engine-work.ts';
import { sharedFixtures } from '#test/fixtures/make-fixtures.ts';
import { writeTiff } from '#test/fixtures/write-tiff.ts';
import { BMP_PICTURE, PLANTED } from '#test/fixtures/make-image-fixtures.ts';
import { imageHandler } from '#worker-image/engine/image/image-handler.ts';
import { stripGif } from '#worker-image/engine/image/strip/strip-gif.ts';
import { stripHeif } from '#worker-image/engine/image/strip/strip-heif.ts';
import { stripJpeg } from '#worker-image/engine/image/strip/strip-jpeg.ts';
import { stripPng } from '#worker-image/engine/image/strip/strip-png.ts';
import { stripTiff } from '#worker-image/engine/image/strip/strip-tiff.ts';
import { stripWebp } from '#worker-image/engine/image/strip/strip-webp.ts';
import { openTiff, readDirectories } from '#worker-image/engine/containers/tiff-in-memory.ts';

let fixtures: readonly Fixture[];

beforeAll(async () => {
  fixtures = await sharedFixtures('image');
}, 180_000);

async function stripped(name: string): Promise<{ before: string; after: string }> {
  const fixture = fixtures.find((one) => one.name === name);
  if (fixture === undefined) throw new Error(`no fixture ${name}`);
  const produced = await runHandler(imageHandler, await workOn({ ...fixture, operation: 'strip_metadata' }));
  return { before: fixture.path, after: produced.path };
}

/** Returns the decoded samples; decodes HEIC with the same tool as the engine. */
async function pixels(path: string): Promise<Buffer> {
  if (!path.endsWith('.heic'))
    return sharp(path, { animated: true, limitInputPixels: false, ignoreIcc: true }).raw().toBuffer();
  const directory = await freshDirectory();
  const decoded = join(directory, 'decoded.tif');
  await engineDeps().run({
    file: 'vips',
    args: ['heifload', path, `${decoded}[compression=none]`],
    directory,
    signal: new AbortController().signal,
    timeoutSeconds: 60,
  });
  return sharp(decoded).raw().toBuffer();
}

describe('removal of metadata', () => {
  // Promise, Bad input, case by case: Kept, stripped
  // Promise, Direct endpoints: Strip-metadata: what is removed and what is kept, for images and PDFs
  it.each([
    ['photo-jpg', [PLANTED.make, PLANTED.xmp, '2026:05:04']],
    ['orientation-6-jpg', [PLANTED.make, PLANTED.xmp]],
    ['photo-png', [PLANTED.make]],
    ['text-png', [PLANTED.comment]],
    ['photo-webp', [PLANTED.make, PLANTED.xmp]],
    ['animated-gif', [PLANTED.comment, PLANTED.xmp]],
    ['photo-avif', [PLANTED.make, PLANTED.xmp]],
    ['photo-heic', [PLANTED.make]],
    ['photo-tiff', [PLANTED.make, PLANTED.xmp]],
  ])('removes the planted metadata from %s, and changes no pixel', async (name, planted) => {
    const { before, after } = await stripped(name);
    const [original, clean] = await Promise.all([readFile(before), readFile(after)]);
    expect(planted.filter((words) => !original.includes(words))).toEqual([]);
    expect(planted.filter((words) => clean.includes(words))).toEqual([]);
    expect((await sharp(after).metadata()).xmpAsString?.trim() ?? '').toBe('');
    expect((await pixels(after)).equals(await pixels(before))).toBe(true);
  });

  // Promise, Direct endpoints: Strip-metadata: what is removed and what is kept, for images and PDFs
  it.each([2, 3, 4, 5, 6, 7, 8])('keeps orientation %i of a JPEG', async (orientation) => {
    const { after } = await stripped(`orientation-${orientation}-jpg`);
    expect((await sharp(after).metadata()).orientation).toBe(orientation);
  });

  // Promise, Direct endpoints: Strip-metadata: what is removed and what is kept, for images and PDFs
  it.each(['photo-png', 'photo-webp', 'photo-tiff'])('keeps the orientation of %s', async (name) => {
    const { after } = await stripped(name);
    expect((await sharp(after).metadata()).orientation).toBe(6);
  });

  // Promise, Direct endpoints: Strip-metadata: what is removed and what is kept, for images and PDFs
  it.each(['p3-jpg', 'cmyk-jpg', 'photo-webp', 'photo-heic'])('keeps the color profile of %s', async (name) => {
    const { before, after } = await stripped(name);
    const [one, other] = await Promise.all([sharp(before).metadata(), sharp(after).metadata()]);
    expect(one.icc).toBeDefined();
    expect(other.icc).toEqual(one.icc);
  });

  it.each(['animated-gif', 'animated-webp'])('keeps frames, delays and loop of %s', async (name) => {
    const { before, after } = await stripped(name);
    const facts = async (path: string) => {
      const { pages, delay, loop } = await sharp(path, { animated: true }).metadata();
      return { pages, delay, loop };
    };
    expect(await facts(after)).toEqual(await facts(before));
  });

  // Promise, Direct endpoints: Strip-metadata: what is removed and what is kept, for images and PDFs
  it('drops the thumbnail of a HEIC and hides its item', async () => {
    const { before, after } = await stripped('photo-heic');
    const [original, clean] = await Promise.all([readFile(before), readFile(after)]);
    expect([original.includes('thmb'), clean.includes('thmb')]).toEqual([true, false]);
    expect((await sharp(after).metadata()).pages).toBe(1);
  });

  it('removes tags and preview of a BigTIFF, and keeps its other page', async () => {
    const frames = await sharp(fixtures.find((one) => one.name === 'two-pages-tiff')!.path, { pages: -1 })
      .withXmp(`<x:xmpmeta xmlns:x="adobe:ns:meta/">${PLANTED.make}</x:xmpmeta>`)
      .tiff({ bigtiff: true, compression: 'deflate', tile: true })
      .toBuffer();
    expect(frames.includes(PLANTED.make)).toBe(true);
    const clean = stripTiff(frames);
    expect(clean.includes(PLANTED.make)).toBe(false);
    const samples = (file: Buffer): Promise<Buffer> => sharp(file, { pages: -1 }).raw().toBuffer();
    expect((await samples(clean)).equals(await samples(frames))).toBe(true);
    const reduced = Buffer.from(frames);
    const [, second] = readDirectories(openTiff(frames));
    const subfileType = second!.entries.find(({ tag }) => tag === 254);
    reduced.writeUInt32LE(1, subfileType!.values.start);
    const { pages } = await sharp(stripTiff(reduced)).metadata();
    expect(pages ?? 1).toBe(1);
  });

  it('removes the layers of a TIFF with a warning, and the bytes behind the image', async () => {
    const pixels = Buffer.alloc(64);
    const layers = Buffer.from(`Adobe Photoshop Document Data Block\0MIB8ryaL${'planted'.repeat(1000)}`, 'latin1');
    const short = (id: number, value: number) => ({ id, type: 'short', values: [value] }) as const;
    const tags = [
      short(256, 8),
      short(257, 8),
      short(258, 8),
      short(259, 1),
      short(262, 1),
      { id: 273, type: 'long', values: 'picture' } as const,
      short(277, 1),
      short(278, 8),
      { id: 279, type: 'long', values: [pixels.length] } as const,
      { id: 37_724, type: 'long', values: [0] } as const,
    ];
    const header = Buffer.from('II*\0\x08\0\0\0', 'latin1');
    const path = join(await freshDirectory(), 'layers.tiff');
    // The layers follow the image: their offset replaces that of the tag's values.
    const file = writeTiff(header, tags, pixels);
    const entry = header.length + 2 + (tags.length - 1) * 12;
    file.writeUInt16LE(7, entry + 2);
    file.writeUInt32LE(layers.length, entry + 4);
    file.writeUInt32LE(file.length, entry + 8);
    await writeFile(path, Buffer.concat([file, layers]));
    const produced = await runHandler(
      imageHandler,
      await workOn({ path, format: 'tiff', operation: 'strip_metadata' }),
    );
    expect(produced.warnings).toEqual(['The layers of the TIFF were removed.']);
    expect(await readFile(produced.path)).toHaveLength(file.length);
  });

  it.each(['photo-heic', 'photo-avif'])('blanks boxes of makers and unreferenced data in %s', async (name) => {
    const original = await readFile(fixtures.find((one) => one.name === name)!.path);
    const left = Buffer.from('planted in the data');
    const data = original.indexOf('mdat') - 4;
    const longer = Buffer.concat([original, left]);
    longer.writeUInt32BE(longer.length - data, data);
    const box = Buffer.from('\0\0\0\x1cmpvdplanted in a box....', 'latin1');
    const clean = stripHeif(Buffer.concat([longer, box]));
    expect([clean.includes('planted in the data'), clean.includes('planted in a box')]).toEqual([false, false]);
    const path = join(await freshDirectory(), `clean.${name.split('-')[1]}`);
    await writeFile(path, clean);
    const before = fixtures.find((one) => one.name === name)!.path;
    expect((await pixels(path)).equals(await pixels(before))).toBe(true);
  });

  it.each(['1-bit-tiff', 'two-pages-tiff', 'grey-jpg', 'alpha-png'])(
    'returns %s byte for byte, as it has no metadata',
    async (name) => {
      const { before, after } = await stripped(name);
      expect((await readFile(after)).equals(await readFile(before))).toBe(true);
    },
  );

  it('keeps the animation of a PNG', async () => {
    const { before, after } = await stripped('animated-png');
    expect((await readFile(after)).equals(await readFile(before))).toBe(true);
  });

  it('adds a missing end mark to a GIF', async () => {
    const whole = await readFile(fixtures.find((one) => one.name === 'animated-gif')!.path);
    expect(stripGif(whole.subarray(0, -1)).equals(stripGif(whole))).toBe(true);
  });

  it('skips an extra block terminator in a GIF, as decoders do', async () => {
    const whole = await readFile(fixtures.find((one) => one.name === 'animated-gif')!.path);
    const dirty = Buffer.concat([whole.subarray(0, -1), Buffer.from([0]), whole.subarray(-1)]);
    expect(stripGif(dirty).equals(stripGif(whole))).toBe(true);
  });

  it('drops data after the end of a JPEG', async () => {
    const { before } = await stripped('photo-jpg');
    const doubled = Buffer.concat([await readFile(before), await readFile(before)]);
    expect(stripJpeg(doubled).equals(stripJpeg(await readFile(before)))).toBe(true);
  });

  it('skips bytes between the segments of a JPEG, as decoders do', async () => {
    const { before } = await stripped('photo-jpg');
    const whole = await readFile(before);
    const afterApp0 = 4 + whole.readUInt16BE(4);
    const dirty = Buffer.concat([
      whole.subarray(0, afterApp0),
      Buffer.from('ab\xff\0\xff', 'latin1'),
      whole.subarray(afterApp0),
    ]);
    expect(stripJpeg(dirty).equals(stripJpeg(whole))).toBe(true);
  });

  // Promise, Bad input, case by case: Kept, stripped
  // Promise, Direct endpoints: BMP is returned with a warning; a PDF is billed as one image
  it('returns a BMP unchanged with a warning', async () => {
    const path = join(await freshDirectory(), 'x.bmp');
    await writeFile(path, drawBmp(BMP_PICTURE, '8'));
    const produced = await runHandler(imageHandler, await workOn({ path, format: 'bmp', operation: 'strip_metadata' }));
    expect((await readFile(produced.path)).equals(await readFile(path))).toBe(true);
    expect(produced.warnings).toHaveLength(1);
  });
});

describe('a file of more than 2 GiB', () => {
  it('is refused with its size and the limit', async () => {
    const path = join(await freshDirectory(), 'large.jpg');
    await writeFile(path, await readFile(fixtures.find((one) => one.name === 'photo-jpg')!.path));
    await truncate(path, 2 ** 31);
    const work = await workOn({ path, format: 'jpg', operation: 'strip_metadata' });
    await expect(runHandler(imageHandler, work)).rejects.toMatchObject({
      code: 'limit_exceeded',
      message: expect.stringMatching(/2147483648 bytes.*2147483647/),
    });
  });
});

describe('damaged files', () => {
  // Promise, Bad input, case by case: Damaged files
  it.each([
    ['photo-jpg', stripJpeg],
    ['photo-png', stripPng],
    ['photo-webp', stripWebp],
    ['animated-gif', stripGif],
    ['photo-avif', stripHeif],
    ['photo-heic', stripHeif],
    ['photo-tiff', stripTiff],
  ] as const)('of %s truncated anywhere are refused or stripped, without another error', async (name, strip) => {
    const whole = await readFile(fixtures.find((one) => one.name === name)!.path);
    let refused = 0;
    for (let length = 0; length < whole.length; length += Math.ceil(whole.length / 97)) {
      try {
        strip(whole.subarray(0, length));
      } catch (error) {
        expect(error).toMatchObject({ code: 'processing_failed' });
        refused += 1;
      }
    }
    expect(refused).toBeGreaterThan(90);
  });
});
