import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import type { Operation } from '#crds/catalogue/formats.ts';
import type { SentOptions } from '#crds/catalogue/options/options.ts';
import { engineDeps, freshDirectory, runHandler, workOn } from '#test/fixtures/engine-work.ts';
import { photo } from '#test/fixtures/make-image-fixtures.ts';
import { runTool } from '#test/fixtures/run-tool.ts';
import type { Produced, Work } from '#worker-image/engine/handler.ts';
import { layTiles, writeAvifGrid } from '#worker-image/engine/image/encode/avif-grid.ts';
import { imageHandler } from '#worker-image/engine/image/image-handler.ts';

const FRAMES = 24;
const DATE = 'DATE';

/** Returns work on an AVIF sequence with a still image. */
async function sequence(operation: Operation, options: SentOptions): Promise<Work> {
  const picture = await photo().avif({ quality: 60, effort: 0 }).toBuffer();
  picture.write('avis', 8, 'latin1');
  picture.write('avismsf1', 16, 'latin1');
  const sizes = box('stsz', Buffer.alloc(8), uint32(FRAMES), Buffer.alloc(FRAMES * 4));
  const media = box('mdia', dated('mdhd', 1), box('minf', box('stbl', sizes)));
  const track = box('moov', dated('mvhd', 0), box('trak', dated('tkhd', 0), media));
  const path = join(await freshDirectory(), 'input.avif');
  await writeFile(path, Buffer.concat([picture, track]));
  return workOn({ path, format: 'avif', operation, options });
}

function box(type: string, ...content: readonly Buffer[]): Buffer {
  const body = Buffer.concat(content);
  return Buffer.concat([uint32(8 + body.length), Buffer.from(type, 'latin1'), body]);
}

/** Returns a header of a sequence: times of creation and last change, then the rate. */
function dated(type: string, version: 0 | 1): Buffer {
  const times = Buffer.from(DATE.repeat(version === 1 ? 4 : 2));
  return box(type, Buffer.from([version, 0, 0, 0]), times, Buffer.from('RATE'));
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

async function processed(work: Work): Promise<Produced> {
  const produced = await runHandler(imageHandler, work);
  const facts = await imageHandler.inspect(engineDeps(), work);
  await imageHandler.verify(engineDeps(), work, facts, produced);
  return produced;
}

describe('an AVIF sequence', () => {
  it('is converted to its still image, with a warning that names its frames', async () => {
    const { path, warnings } = await processed(await sequence('convert', { convert: { to: 'png' } }));
    const { width, height } = await photo().metadata();
    expect(await sharp(path).metadata()).toMatchObject({ format: 'png', width, height });
    expect(warnings).toEqual([expect.stringContaining(`all ${FRAMES} frames`)]);
  });

  it('keeps its frames when its metadata is removed', async () => {
    const work = await sequence('strip_metadata', {});
    const produced = await processed(work);
    expect(produced.warnings).toEqual([]);
    expect(
      (await imageHandler.inspect(engineDeps(), { ...work, input: { ...work.input, path: produced.path } })).frames,
    ).toBe(FRAMES);
  });

  it('loses its dates with the other metadata', async () => {
    const work = await sequence('strip_metadata', {});
    const [before, after] = [await readFile(work.input.path), await readFile((await processed(work)).path)];
    const times = (file: Buffer, text: string): number => file.toString('latin1').split(text).length - 1;
    expect([times(before, DATE), times(before, 'RATE')]).toEqual([8, 3]);
    expect([times(after, DATE), times(after, 'RATE')]).toEqual([0, 3]);
  });
});

const [TILES_PER_SIDE, TILE_SIDE] = [17, 64];

/** Returns an AVIF with more items than libheif reads by default. */
async function tiledAvif(): Promise<Buffer> {
  const [side, tile] = [TILES_PER_SIDE, TILE_SIDE];
  const one = await photo(tile, tile).avif({ quality: 60, effort: 0 }).toBuffer();
  const size = side * tile;
  const layout = { ...layTiles(size, size), columns: side, rows: side, tileWidth: tile, tileHeight: tile };
  return writeAvifGrid(
    layout,
    Array.from({ length: side ** 2 }, () => one),
    one,
  );
}

async function convertedAvif(bytes: Buffer): Promise<Produced> {
  const path = join(await freshDirectory(), 'tiles.avif');
  await writeFile(path, bytes);
  return processed(
    await workOn({ path, format: 'avif', operation: 'convert', options: { convert: { to: 'png' } } as const }),
  );
}

describe('an AVIF of many tiles', () => {
  it('is opened at its full size', async () => {
    const { path } = await convertedAvif(await tiledAvif());
    const size = TILES_PER_SIDE * TILE_SIDE;
    expect(await sharp(path).metadata()).toMatchObject({ width: size, height: size });
  });

  it.each([
    ['more than 32 extents', 16, 33, '33 extents'],
    ['extents without offset and length', 8, 0, 'no width'],
  ])('is refused for an item with %s', async (_what, at, value, reason) => {
    const file = await tiledAvif();
    // Numbers of 16 bits in the box: widths at 8, the number of extents of the first item at 16.
    file.writeUInt16BE(value, file.indexOf('iloc') + at);
    await expect(convertedAvif(file)).rejects.toMatchObject({
      code: 'processing_failed',
      message: expect.stringContaining(reason),
    });
  });
});

/** Returns the path of an AVIF that is black on the left and white on the right. */
async function grayAvif(range: 'tv' | 'pc', pixels: string): Promise<string> {
  const directory = await freshDirectory();
  const path = join(directory, 'gray.avif');
  const picture = `drawbox=x=64:w=64:h=64:color=white:t=fill,scale=out_range=${range},format=${pixels}`;
  const source = ['-f', 'lavfi', '-i', 'color=black:s=128x64', '-frames:v', '1', '-vf', picture];
  const coding = ['-color_range', range, '-c:v', 'libaom-av1', '-still-picture', '1', '-cpu-used', '8', '-crf', '5'];
  await runTool(directory, 'ffmpeg', ['-v', 'error', ...source, ...coding, path]);
  return path;
}

describe('a gray AVIF', () => {
  it.each([
    ['tv', 'gray'],
    ['tv', 'gray10le'],
    ['pc', 'gray'],
    ['tv', 'yuv420p'],
  ] as const)('of range %s and pixel format %s keeps black and white', async (range, pixels) => {
    const path = await grayAvif(range, pixels);
    const options = { convert: { to: 'png' } } as const;
    const work = await workOn({ path, format: 'avif', operation: 'convert', options });
    const { path: written } = await runHandler(imageHandler, work);
    const { data, info } = await sharp(written).toColourspace('b-w').raw().toBuffer({ resolveWithObject: true });
    expect(data[0]).toBeLessThan(4);
    expect(data[(info.width - 1) * info.channels]).toBeGreaterThan(251);
  });
});

const [WIDTH, HEIGHT] = [8000, 4100];

describe('an AVIF of more than 32 megapixels', () => {
  it('is decoded upright, with its profile, its opacity and the colors of its corners', async () => {
    const path = join(await freshDirectory(), 'large.avif');
    const create = {
      width: WIDTH,
      height: HEIGHT,
      channels: 4,
      background: { r: 200, g: 60, b: 30, alpha: 0.5 },
    } as const;
    const corner = { input: { create: { ...create, width: 1000, height: 1000, background: '#00f' } }, left: 0, top: 0 };
    await sharp({ create })
      .composite([corner])
      .withMetadata({ orientation: 6, icc: 'p3' })
      .avif({ effort: 0, chromaSubsampling: '4:2:0' })
      .toFile(path);
    const options = { image: { format: 'webp', resize: { mode: 'fit', width: 400, height: 400 } } } as const;
    const { path: small } = await runHandler(
      imageHandler,
      await workOn({ path, format: 'avif', operation: 'compress', options }),
    );
    const made = sharp(small);
    expect(await made.metadata()).toMatchObject({ width: 205, height: 400, hasAlpha: true, icc: expect.any(Buffer) });
    const { data } = await made.raw().toBuffer({ resolveWithObject: true });
    const at = (x: number, y: number): number[] => [...data.subarray((y * 205 + x) * 4, (y * 205 + x) * 4 + 4)];
    expect(at(200, 10)[2]).toBeGreaterThan(230);
    expect(at(200, 10)[3]).toBe(255);
    expect(at(10, 390)[0]).toBeGreaterThan(170);
    expect(at(10, 390)[3]).toBeGreaterThan(120);
    expect(at(10, 390)[3]).toBeLessThan(136);
  });
});
