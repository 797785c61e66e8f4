import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { beforeAll, describe, expect, it } from 'vitest';
import { freshDirectory, runHandler, workOn } from '#test/fixtures/engine-work.ts';
import { makePngChunk, PNG_SIGNATURE } from '#worker-image/engine/containers/png-chunks.ts';
import { imageHandler } from '#worker-image/engine/image/image-handler.ts';
import { readPngHeader } from '#worker-image/engine/image/loaders/load-png.ts';
import { makeOrientationTiff } from '#worker-image/engine/image/strip/orientation-exif.ts';

const [WIDTH, HEIGHT] = [64, 32];
const ROTATED_90 = 6;
const END_CHUNK_BYTES = 12;

let path: string;

/** The left half is red; after a clockwise rotation by 90 degrees the upper half is. */
beforeAll(async () => {
  const half = { create: { width: WIDTH / 2, height: HEIGHT, channels: 3, background: '#f00' } } as const;
  const right = { left: 0, right: WIDTH / 2, background: '#00f' };
  const png = await sharp(await sharp(half).png().toBuffer())
    .extend(right)
    .png()
    .toBuffer();
  const end = png.length - END_CHUNK_BYTES;
  const exif = makePngChunk('eXIf', makeOrientationTiff(ROTATED_90));
  path = join(await freshDirectory(), 'late.png');
  await writeFile(path, Buffer.concat([png.subarray(0, end), exif, png.subarray(end)]));
});

describe('a PNG with EXIF behind its pixels', () => {
  it.each(['compress', 'convert'] as const)('is rotated by its orientation: %s', async (operation) => {
    const options = { image: { format: 'webp' }, convert: { to: 'webp' } } as const;
    const { path: made } = await runHandler(imageHandler, await workOn({ path, format: 'png', operation, options }));
    const { data, info } = await sharp(made).removeAlpha().raw().toBuffer({ resolveWithObject: true });
    expect([info.width, info.height]).toEqual([HEIGHT, WIDTH]);
    expect(data[0]).toBeGreaterThan(200);
    expect(data.at(-1)).toBeGreaterThan(200);
  });

  it('keeps its orientation when its metadata is removed', async () => {
    const produced = await runHandler(imageHandler, await workOn({ path, format: 'png', operation: 'strip_metadata' }));
    expect(await sharp(await readFile(produced.path)).metadata()).toMatchObject({ orientation: ROTATED_90 });
  });
});

function png(...chunks: readonly Buffer[]): Parameters<typeof readPngHeader>[0] {
  const file = Buffer.concat([PNG_SIGNATURE, makePngChunk('IHDR', Buffer.alloc(13)), ...chunks]);
  return { read: (at, length) => Promise.resolve(file.subarray(at, at + length)) };
}

const PIXELS = makePngChunk('IDAT', Buffer.alloc(0));
const FRAME = makePngChunk('fcTL', Buffer.alloc(26));
const animation = (frames: number): Buffer => makePngChunk('acTL', Buffer.from([0, 0, 0, frames, 0, 0, 0, 0]));

describe('readPngHeader', () => {
  it.each([
    ['a still image', png(PIXELS), 1],
    ['three frames', png(animation(3), FRAME, PIXELS), 3],
    ['one frame that is the still image', png(animation(1), FRAME, PIXELS), 1],
    ['one frame after the still image', png(animation(1), PIXELS), 2],
    ['an animation chunk behind the pixels', png(PIXELS, animation(3)), 1],
    ['a truncated header', png(animation(3).subarray(0, 10)), 1],
  ])('counts the frames of %s', async (_what, file, frames) => {
    expect((await readPngHeader(file)).frames).toBe(frames);
  });

  it('returns the color space of the chunks before the pixels', async () => {
    const displayP3 = makePngChunk('cICP', Buffer.from([12, 13, 0, 1]));
    expect((await readPngHeader(png(displayP3, PIXELS))).color).toMatchObject({ isWide: true });
    expect((await readPngHeader(png(PIXELS, displayP3))).color).toBeNull();
  });

  it.each([
    [0, true],
    [2, false],
    [3, false],
    [4, true],
    [6, false],
  ])('tells gray by color type %d: %s', async (colorType, isGray) => {
    const header = Buffer.alloc(13);
    header.writeUInt8(colorType, 9);
    const file = Buffer.concat([PNG_SIGNATURE, makePngChunk('IHDR', header), PIXELS]);
    const read = (at: number, length: number): Promise<Buffer> => Promise.resolve(file.subarray(at, at + length));
    expect((await readPngHeader({ read })).isGray).toBe(isGray);
  });
});
