import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { engineDeps, freshDirectory } from '#test/fixtures/engine-work.ts';
import { gifBlocks } from '#worker-image/engine/containers/gif-blocks.ts';
import { libvipsPicture, namesGainMap, sharp, withImageErrors } from '#worker-image/engine/image/libvips-picture.ts';
import type { ImageFile } from '#worker-image/engine/image/picture.ts';

/** Files that sharp's libraries can open unless their loaders are blocked. */
const BLOCKED: readonly (readonly [what: string, bytes: Buffer])[] = [
  [
    'an SVG',
    Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>'),
  ],
  ['a packed SVG', deflateSync(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'))],
  ['a PPM', Buffer.from('P6\n1 1\n255\nabc', 'latin1')],
  ['a Radiance image', Buffer.from('#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 1 +X 1\nabcd', 'latin1')],
  ['a CSV matrix', Buffer.from('1,2\n3,4\n')],
];

describe('sharp', () => {
  it.each(BLOCKED)('does not open %s', async (_what, bytes) => {
    await expect(sharp(bytes).metadata()).rejects.toThrow(/unsupported image format|blocked/);
  });

  it.each(['jpeg', 'png', 'webp', 'gif', 'tiff', 'avif'] as const)('opens %s', async (format) => {
    const bytes = await sharp({ create: { width: 8, height: 8, channels: 3, background: '#123' } })
      .toFormat(format)
      .toBuffer();
    expect(await sharp(bytes).metadata()).toMatchObject({ width: 8, height: 8 });
  });
});

const NO_TOOLS = engineDeps();

async function fileOf(bytes: Buffer): Promise<ImageFile> {
  const directory = await freshDirectory();
  const path = join(directory, 'input');
  await writeFile(path, bytes);
  return { path, format: 'gif', directory, maxPixels: 1_000_000 };
}

/** Returns a GIF of one frame for each color. */
async function animated(colors: readonly string[]): Promise<Buffer> {
  const frame = { width: 20, height: 10, channels: 3 } as const;
  const frames = colors.map((background) =>
    sharp({ create: { ...frame, background } })
      .png()
      .toBuffer(),
  );
  return sharp(await Promise.all(frames), { join: { animated: true } })
    .gif({ delay: colors.map(() => 120), keepDuplicateFrames: true })
    .toBuffer();
}

describe('libvipsPicture', () => {
  it.each([
    [['#f00', '#0f0'], false],
    [['#f00', '#f00'], true],
  ])('describes an animation of the colors %j', async (colors, isStill) => {
    const picture = await libvipsPicture({ file: await fileOf(await animated(colors)), animated: true });
    expect(picture).toMatchObject({ size: { width: 20, height: 10 }, frames: 2, animation: { delays: [120, 120] } });
    expect(await picture.animation?.isStill()).toBe(isStill);
    const { data, info } = await (
      await picture.decode(NO_TOOLS)
    )
      .start({ animated: false, keepProfile: false })
      .raw()
      .toBuffer({ resolveWithObject: true });
    expect([info.width, info.height, data[0]! > 200]).toEqual([20, 10, true]);
  });

  it('verifies a complete file and refuses a truncated one', async () => {
    const noise = { type: 'gaussian', mean: 128, sigma: 30 } as const;
    const image = sharp({ create: { width: 100, height: 100, channels: 3, background: '#888', noise } });
    const file = await fileOf(await image.jpeg().toBuffer());
    await expect((await libvipsPicture({ file })).verify(NO_TOOLS)).resolves.toBeUndefined();
    await writeFile(file.path, (await readFile(file.path)).subarray(0, 2000));
    await expect((await libvipsPicture({ file })).verify(NO_TOOLS)).rejects.toThrow();
  });

  it('does not rotate the first frame, as the animation is not rotated', async () => {
    const file = await sharp(await animated(['#f00', '#00f']), { animated: true })
      .withMetadata({ orientation: 6 })
      .webp()
      .toBuffer();
    const picture = await libvipsPicture({ file: await fileOf(file), animated: true });
    const { info } = await (
      await picture.decode(NO_TOOLS)
    )
      .start({ animated: false, keepProfile: false })
      .toBuffer({ resolveWithObject: true });
    expect({ width: info.width, height: info.height }).toEqual(picture.size);
  });

  it('verifies the first frame of an animation alone when asked', async () => {
    const bytes = await animated(['#f00', '#00f', '#0f0']);
    const last = [...gifBlocks(bytes)].findLast(({ kind }) => kind === 'image');
    const file = await fileOf(bytes.fill(0xff, (last?.end ?? 0) - 8, (last?.end ?? 0) - 1));
    const picture = await libvipsPicture({ file, animated: true });
    await expect(picture.verify(NO_TOOLS, 'first frame')).resolves.toBeUndefined();
    await expect(picture.verify(NO_TOOLS)).rejects.toThrow();
  });

  it('refuses a file that is no image', async () => {
    const picture = libvipsPicture({ file: await fileOf(Buffer.from('text')) });
    await expect(picture).rejects.toMatchObject({ code: 'processing_failed' });
  });
});

describe('withImageErrors', () => {
  it.each([
    [new Error('Processed image is too large for the WebP format'), 'Writing failed: a side of the image is longer'],
    [new Error('VipsJpeg: premature end'), 'Writing failed: the file is damaged'],
  ])('refuses the file for %s', async (error, message) => {
    const refusal = { code: 'processing_failed', message: expect.stringContaining(message) };
    await expect(withImageErrors('Writing', () => Promise.reject(error))).rejects.toMatchObject(refusal);
  });

  it('throws a wrong parameter, which is a bug, as it is', async () => {
    const bug = new Error('Expected integer between 1 and 100 for quality');
    await expect(withImageErrors('Writing', () => Promise.reject(bug))).rejects.toBe(bug);
  });
});

describe('namesGainMap', () => {
  it('finds the names of gain maps anywhere in a file', () => {
    expect(namesGainMap(Buffer.from('abc http://ns.apple.com/HDRGainMap/1.0/ def'))).toBe(true);
    expect(namesGainMap(Buffer.from('abc http://ns.apple.com/ def'))).toBe(false);
  });
});

describe('the gain map of a JPEG', () => {
  const name = 'urn:com:apple:photo:2020:aux:hdrgainmap';
  const body = Buffer.alloc(600 * 1024);

  it.each([
    ['is found in its headers', name, [body], true],
    ['is found behind an index of images', 'MPF\0', [body, name], true],
    ['is not searched without an index', 'Exif', [body, name], false],
    ['is missing behind an index', 'MPF\0', [body], false],
  ] as const)('%s', async (_what, header, parts, found) => {
    const image = await sharp({ create: { width: 8, height: 8, channels: 3, background: '#123' } })
      .jpeg()
      .toBuffer();
    const segment = Buffer.concat([Buffer.from([0xff, 0xe2, 0, 2 + header.length]), Buffer.from(header)]);
    const [start, rest] = [image.subarray(0, 2), image.subarray(2)];
    const file = await fileOf(Buffer.concat([start, segment, rest, ...parts.map((part) => Buffer.from(part))]));
    const picture = await libvipsPicture({ file: { ...file, format: 'jpg' }, isJpeg: true });
    expect(await picture.hasGainMap?.()).toBe(found);
  });
});
