/** AVIF. Images larger than the frame size of any AV1 level are written as a grid of tiles. */
import { statSync } from 'node:fs';
import { open, rm, type FileHandle } from 'node:fs/promises';
import type { AvifOptions, Sharp } from 'sharp';
import { layTiles, writeAvifGrid, type TileLayout } from '#worker-image/engine/image/encode/avif-grid.ts';
import { bitsPerPixel, photoSettings } from '#worker-image/engine/image/encode/encode-jpeg.ts';
import type { Encoder, Output } from '#worker-image/engine/image/encode/encoder.ts';
import { lossyQuality, type LossyQuality } from '#worker-image/engine/image/encode/quality-scale.ts';
import { writeWhole } from '#worker-image/engine/written-file.ts';
import { sharp } from '#worker-image/engine/image/libvips-picture.ts';

/** MaxPicSize of AV1's levels 6.0 to 6.3, in pixels. A single frame of 100 megapixels takes 3.7 GB in the encoder. */
const MAX_FRAME_PIXELS = 35_651_584;

export const encodeAvif: Encoder = async (_deps, output) => {
  const { source, size, isDeep, quality, pipeline, path } = output;
  const target = await lossyQuality(source, quality);
  const pixels = size.width * size.height;
  const { smooth, detailed } = effortsOf(pixels);
  const effort = smooth === detailed || !(await isDetailed(output, target)) ? smooth : detailed;
  const settings = avifSettings(target, { effort, bitdepth: isDeep ? 10 : 8 });
  const file =
    pixels <= MAX_FRAME_PIXELS
      ? await pipeline().avif(settings).toBuffer()
      : await encodeTiled({ pipeline, path, settings });
  return writeWhole(path, file);
};

/**
 * Minimum quality at which photos keep full chroma. Below it, subsampled chroma has the bytes of full chroma at an equal
 * SSIMULACRA2 (1.01 in the mean of 19 photos at 75) for 0.87 of the time, and hardware decodes it.
 */
const MIN_FULL_CHROMA_QUALITY = 80;

/** Returns the settings for AVIF. */
export function avifSettings(
  { quality, content, encoders }: LossyQuality,
  { effort, bitdepth }: { effort: number; bitdepth: 8 | 10 },
): AvifOptions {
  const isSubsampled = content === 'photo' && quality < MIN_FULL_CHROMA_QUALITY;
  return { quality: encoders.avif, effort, bitdepth, chromaSubsampling: isSubsampled ? '4:2:0' : '4:4:4' };
}

/** Encoder efforts for images of a size. */
interface Efforts {
  readonly smooth: number;
  readonly detailed: number;
}

/**
 * Encoder efforts by size in pixels. Effort 4 takes 4 times as long as 3 and saves 5 % of the bytes, so it is for small
 * images. From 3 to 1 the time halves for 5 to 8 % more bytes: 100 megapixels take a minute or two on two cores. A detailed
 * image takes 0.6 of the time with effort 2 for 1 to 3 % more bytes; a smooth one would have 5 to 60 % more.
 */
const EFFORTS: readonly (Efforts & { readonly maxPixels: number })[] = [
  { maxPixels: 1_000_000, smooth: 4, detailed: 4 },
  { maxPixels: 24_000_000, smooth: 3, detailed: 2 },
  { maxPixels: 60_000_000, smooth: 2, detailed: 2 },
];
const LOWEST_EFFORTS: Efforts = { smooth: 1, detailed: 1 };

/** Returns the efforts for an image of that many pixels. */
export function effortsOf(pixels: number): Efforts {
  return EFFORTS.find(({ maxPixels }) => pixels <= maxPixels) ?? LOWEST_EFFORTS;
}

/** Minimum bits per pixel of a detailed photo, as a JPEG of the same quality, and of an input in JPEG that may hold one. */
const DETAILED_BITS = { draft: 0.95, input: 1.5 } as const;

/** Returns whether an image is a detailed photo, by a draft in JPEG: it takes a twentieth of the encoder's time. */
async function isDetailed({ picture, pipeline, size }: Output, { content, encoders }: LossyQuality): Promise<boolean> {
  const { file } = picture;
  if (content !== 'photo') return false;
  if (file.format === 'jpg' && bitsPerPixel(statSync(file.path).size, size) < DETAILED_BITS.input) return false;
  const draft = await pipeline().jpeg(photoSettings(encoders)).toBuffer();
  return bitsPerPixel(draft.length, size) >= DETAILED_BITS.draft;
}

/** Edge length of the thumbnail whose ICC, EXIF and XMP items are copied into the grid image, in pixels. */
const THUMBNAIL_SIDE = 64;

/** Returns a grid image. Writes the decoded samples to a temporary file beside the path. */
export async function encodeTiled({
  pipeline,
  path,
  settings,
}: {
  pipeline: () => Sharp;
  path: string;
  settings: AvifOptions;
}): Promise<Buffer> {
  const side = { width: THUMBNAIL_SIDE, height: THUMBNAIL_SIDE, fit: 'fill', kernel: 'nearest' } as const;
  const thumbnail = await pipeline().resize(side).avif(settings).toBuffer();
  const samples = `${path}.v`;
  const { width, height, channels } = await pipeline().toFile(samples);
  const layout = layTiles(width, height);
  await using file = await open(samples);
  const tiles = await encodeTiles({ layout, file, channels, settings });
  await rm(samples);
  return writeAvifGrid(layout, tiles, thumbnail);
}

interface Tiling {
  readonly layout: TileLayout;
  /** The decoded image in libvips' own format. */
  readonly file: FileHandle;
  readonly channels: 1 | 2 | 3 | 4;
  readonly settings: AvifOptions;
}

/** Length of the header before the rows of samples, in bytes. */
const HEADER_BYTES = 64;

/** Encodes the tiles, as many at a time as sharp has threads. */
async function encodeTiles(tiling: Tiling): Promise<Buffer[]> {
  const tiles: Buffer[] = [];
  const count = tiling.layout.columns * tiling.layout.rows;
  let next = 0;
  const encodeNext = async (): Promise<void> => {
    const rows = Buffer.allocUnsafeSlow(tiling.layout.tileHeight * rowBytes(tiling));
    for (let at = next++; at < count; at = next++) tiles[at] = await encodeTile(tiling, { at, rows });
  };
  await Promise.all(Array.from({ length: Math.min(count, sharp.concurrency()) }, encodeNext));
  return tiles;
}

/** @param tile `rows` is reused for the rows that contain the tile: a new buffer for each would be 60 MB of garbage. */
async function encodeTile(tiling: Tiling, { at, rows }: { at: number; rows: Buffer }): Promise<Buffer> {
  const { layout, channels, settings } = tiling;
  const left = (at % layout.columns) * layout.tileWidth;
  const top = Math.floor(at / layout.columns) * layout.tileHeight;
  const width = Math.min(layout.tileWidth, layout.width - left);
  const height = Math.min(layout.tileHeight, layout.height - top);
  const raw = { width: layout.width, height, channels };
  const tile = sharp(await readRows(tiling, { top, height, rows }), { raw, limitInputPixels: false })
    .extract({ left, top: 0, width, height })
    .extend({ right: layout.tileWidth - width, bottom: layout.tileHeight - height, extendWith: 'copy' });
  const deep = channels < 3 ? 'grey16' : 'rgb16';
  return (settings.bitdepth === 8 ? tile : tile.toColourspace(deep)).avif(settings).toBuffer();
}

async function readRows(
  tiling: Tiling,
  { top, height, rows }: { top: number; height: number; rows: Buffer },
): Promise<Buffer | Uint16Array> {
  const bytes = rows.subarray(0, height * rowBytes(tiling));
  const { bytesRead } = await tiling.file.read(bytes, 0, bytes.length, HEADER_BYTES + top * rowBytes(tiling));
  if (bytesRead < bytes.length) throw new Error('The decoded samples are truncated.');
  return tiling.settings.bitdepth === 8 ? bytes : new Uint16Array(bytes.buffer, 0, bytes.length / 2);
}

function rowBytes({ layout, channels, settings }: Tiling): number {
  return layout.width * channels * (settings.bitdepth === 8 ? 1 : 2);
}
