import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { describe, expect, it, beforeAll } from 'vitest';
import type { Format, ImageTarget } from '#crds/catalogue/formats.ts';
import { freshDirectory, runHandler, workOn } from '#test/fixtures/engine-work.ts';
import { imageHandler, droppedContentWarnings } from '#worker-image/engine/image/image-handler.ts';
import { GAIN_MAP_WARNING } from '#worker-image/engine/image/libvips-picture.ts';
import type { Picture, PixelSource } from '#worker-image/engine/image/picture.ts';

interface Input {
  readonly format?: Format;
  readonly frames?: number;
  /** Frames that sharp reads. */
  readonly readFrames?: number;
  readonly pages?: number;
  readonly hasGainMap?: boolean;
  /** Alpha of the two pixels. */
  readonly alpha?: readonly [number, number];
}

function warningsFor(target: ImageTarget, input: Input): Promise<string[]> {
  const { format = 'png', frames = 1, readFrames = 1, pages = 1, hasGainMap = false, alpha = [255, 255] } = input;
  const pixels = Buffer.from(alpha.flatMap((value) => [9, 9, 9, value]));
  const picture = { file: { format }, frames, hasGainMap: () => Promise.resolve(hasGainMap) };
  const source = {
    metadata: { hasAlpha: true },
    frames: readFrames,
    pages,
    start: () => sharp(pixels, { raw: { width: 2, height: 1, channels: 4 } }),
  };
  return droppedContentWarnings({
    picture: picture as unknown as Picture,
    source: source as unknown as PixelSource,
    target,
  });
}

describe('droppedContentWarnings', () => {
  it.each<readonly [string, ImageTarget, Input]>([
    ['a still image', 'jpg', {}],
    ['an animation that the target keeps', 'webp', { frames: 5, readFrames: 5 }],
    ['an opaque GIF', 'gif', {}],
    ['full transparency in a GIF', 'gif', { alpha: [0, 255] }],
    ['partial transparency that the target keeps', 'png', { alpha: [128, 255] }],
    ['a GIF that stays one', 'gif', { format: 'gif', alpha: [128, 255] }],
  ])('returns none for %s', async (_what, target, input) => {
    expect(await warningsFor(target, input)).toEqual([]);
  });

  it.each<readonly [string, ImageTarget, Input, string]>([
    ['an animation in a format of still images', 'jpg', { frames: 5, readFrames: 5 }, '5 frames'],
    ['an animation of which sharp reads one frame', 'webp', { frames: 5 }, '5 frames'],
    ['further pages', 'png', { format: 'tiff', pages: 3 }, '3 pages'],
    ['the faintest transparency in a GIF', 'gif', { alpha: [1, 255] }, 'transparent'],
    ['nearly full opacity in a GIF', 'gif', { alpha: [254, 255] }, 'transparent'],
    ['a gain map', 'jpg', { hasGainMap: true }, GAIN_MAP_WARNING],
  ])('returns one for %s', async (_what, target, input, part) => {
    expect(await warningsFor(target, input)).toEqual([expect.stringContaining(part)]);
  });

  it('refuses a file whose pixels cannot be decoded', async () => {
    const source = { metadata: { hasAlpha: true }, frames: 1, pages: 1, start: () => sharp(Buffer.from('damaged')) };
    const picture = { file: { format: 'png' }, frames: 1, hasGainMap: () => Promise.resolve(false) };
    const warnings = droppedContentWarnings({
      picture: picture as unknown as Picture,
      source: source as unknown as PixelSource,
      target: 'gif',
    });
    await expect(warnings).rejects.toMatchObject({ code: 'processing_failed' });
  });
});

const XMP =
  '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">' +
  '<rdf:Description xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/" hdrgm:Version="1.0"/></rdf:RDF></x:xmpmeta>';

let withMap = '';
let without = '';

beforeAll(async () => {
  const directory = await freshDirectory();
  withMap = join(directory, 'with.jpg');
  without = join(directory, 'without.jpg');
  const noise = { type: 'gaussian', mean: 128, sigma: 30 } as const;
  const picture = sharp({ create: { width: 160, height: 120, channels: 3, background: '#888', noise } });
  const map = await picture.clone().resize(40, 30).greyscale().jpeg().toBuffer();
  await writeFile(withMap, Buffer.concat([await picture.clone().withXmp(XMP).jpeg({ quality: 98 }).toBuffer(), map]));
  await writeFile(without, await picture.clone().jpeg({ quality: 98 }).toBuffer());
});

describe('a JPEG with a gain map', () => {
  it.each([
    ['compress', {}],
    ['convert', { convert: { to: 'png' as const } }],
    ['strip_metadata', {}],
  ] as const)('loses the gain map by %s, with a warning', async (operation, options) => {
    const warnings = async (path: string): Promise<readonly string[]> =>
      (await runHandler(imageHandler, await workOn({ path, format: 'jpg', operation, options }))).warnings;
    expect(await warnings(withMap)).toEqual([GAIN_MAP_WARNING]);
    expect(await warnings(without)).toEqual([]);
  });
});
