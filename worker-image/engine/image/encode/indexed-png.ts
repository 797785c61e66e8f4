/** Writer of PNG files whose pixels are positions in a palette. libvips takes colors only, and searches for a palette itself. */
import {
  makePngChunk,
  PNG_SIGNATURE,
  readPngChunks,
  type PngChunk,
} from '#worker-image/engine/containers/png-chunks.ts';
import { PIXELS_PER_CALL, type ColorCounts } from '#worker-image/engine/image/encode/count-colors.ts';
import type { ColorPalette } from '#worker-image/engine/image/encode/quantize-colors.ts';
import { sharp } from '#worker-image/engine/image/libvips-picture.ts';
import { releaseMemory } from '#worker-image/engine/release-memory.ts';
import type { ImageSize } from '#worker-image/engine/image/picture.ts';

export interface IndexedImage {
  readonly size: ImageSize;
  /** Position of the color of each pixel among the palette's `entries`. */
  readonly pixels: ColorCounts['pixels'];
  readonly palette: ColorPalette;
  /** Chunks that are copied before the palette. */
  readonly metadata: readonly PngChunk[];
}

/** Returns RGBA samples of the image, with the colors of its palette. */
export function paletteSamples({ pixels, palette }: IndexedImage): Buffer {
  const colors = colorsOf(palette);
  const samples = new Uint32Array(pixels.length);
  for (let at = 0; at < pixels.length; at += PIXELS_PER_CALL) mapPixels(samples, pixels, { values: colors, begin: at });
  return Buffer.from(samples.buffer);
}

/** Returns the RGBA samples of the palette's entry of each color of the image. */
export function colorsOf({ colors, entries }: ColorPalette): Uint32Array {
  const samples = new Uint32Array(entries.length);
  for (let color = 0; color < samples.length; color += 1) samples[color] = colors[entries[color] ?? 0] ?? 0;
  return samples;
}

/** Color type of IHDR. */
const INDEXED = 3;
/** Opacity of a color that needs no entry in tRNS. */
export const OPAQUE = 255;

/** Returns the file. @param compressionLevel Of deflate, 0 to 9. */
export async function encodeIndexedPng(image: IndexedImage, compressionLevel: number): Promise<Buffer> {
  const { size, metadata } = image;
  const { colors, entries } = orderPalette(image.palette);
  const bits = bitsPerPixel(colors.length);
  const opacities = colors.map((color) => color >>> 24).filter((opacity) => opacity < OPAQUE);
  const pixels = await deflateRows(packRows(image, entries, bits), size.height, compressionLevel);
  return Buffer.concat([
    PNG_SIGNATURE,
    makePngChunk('IHDR', indexedHeader(size, bits)),
    ...metadata.map(({ whole }) => whole),
    makePngChunk(
      'PLTE',
      Buffer.from(colors.flatMap((color) => [color & 255, (color >>> 8) & 255, (color >>> 16) & 255])),
    ),
    ...(opacities.length > 0 ? [makePngChunk('tRNS', Buffer.from(opacities))] : []),
    ...pixels,
    makePngChunk('IEND', Buffer.alloc(0)),
  ]);
}

/** Returns the content of IHDR. */
export function indexedHeader({ width, height }: ImageSize, bits: number): Buffer {
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, bits, INDEXED, 0, 0, 0]);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  return header;
}

/** Returns the used entries, transparent ones first: only these need an opacity in the file. */
function orderPalette({ colors, entries }: ColorPalette): { readonly colors: number[]; readonly entries: Uint8Array } {
  const isUsed = new Uint8Array(colors.length);
  for (let color = 0; color < entries.length; color += 1) isUsed[entries[color] ?? 0] = 1;
  const used = [...isUsed.keys()]
    .filter((entry) => isUsed[entry] === 1)
    .toSorted((one, other) => ((colors[one] ?? 0) >>> 24) - ((colors[other] ?? 0) >>> 24));
  const positions = new Uint8Array(colors.length);
  used.forEach((entry, position) => (positions[entry] = position));
  const ordered = new Uint8Array(entries.length);
  for (let color = 0; color < ordered.length; color += 1) ordered[color] = positions[entries[color] ?? 0] ?? 0;
  return { colors: used.map((entry) => colors[entry] ?? 0), entries: ordered };
}

function bitsPerPixel(colors: number): 1 | 2 | 4 | 8 {
  if (colors > 16) return 8;
  if (colors > 4) return 4;
  return colors > 2 ? 2 : 1;
}

/** Returns the rows of positions, each padded to whole bytes. The first pixel is in the highest bits of a byte. */
function packRows({ size, pixels }: IndexedImage, entries: Uint8Array, bits: number): Buffer {
  const { width, height } = size;
  const rowBytes = Math.ceil((width * bits) / 8);
  const rows = Buffer.alloc(rowBytes * height);
  if (bits === 8) {
    for (let at = 0; at < pixels.length; at += PIXELS_PER_CALL) mapPixels(rows, pixels, { values: entries, begin: at });
    return rows;
  }
  for (let y = 0; y < height; y += 1) {
    const row = pixels.subarray(y * width, (y + 1) * width);
    packRow(rows.subarray(y * rowBytes, (y + 1) * rowBytes), row, { entries, bits });
  }
  return rows;
}

/** Writes the value of each pixel's color. */
function mapPixels<Values extends Uint8Array | Uint32Array>(
  target: Values,
  pixels: Uint16Array,
  { values, begin }: { values: Values; begin: number },
): void {
  const end = Math.min(pixels.length, begin + PIXELS_PER_CALL);
  for (let at = begin; at < end; at += 1) target[at] = values[pixels[at] ?? 0] ?? 0;
}

function packRow(row: Buffer, pixels: Uint16Array, { entries, bits }: { entries: Uint8Array; bits: number }): void {
  const pixelsPerByte = 8 / bits;
  for (let at = 0; at < row.length; at += 1) {
    const end = (at + 1) * pixelsPerByte;
    let byte = 0;
    for (let x = end - pixelsPerByte; x < end; x += 1) byte = (byte << bits) | (entries[pixels[x] ?? 0] ?? 0);
    row[at] = byte;
  }
}

/**
 * Returns the chunks of the compressed pixels; the rows are released. To PNG, a row of positions is the same as a row of
 * gray samples. libvips compresses these in a third of the time of Node's zlib, which is slow where a row repeats one byte.
 */
async function deflateRows(rows: Buffer, height: number, compressionLevel: number): Promise<Buffer[]> {
  const raw = { width: rows.length / height, height, channels: 1 as const };
  const gray = await sharp(rows, { raw, limitInputPixels: false })
    .toColourspace('b-w')
    .png({ compressionLevel })
    .toBuffer();
  releaseMemory(rows);
  return (readPngChunks(gray) ?? []).filter(({ type }) => type === 'IDAT').map(({ whole }) => whole);
}
