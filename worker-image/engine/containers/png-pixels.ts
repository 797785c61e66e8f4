/** Size of the pixels of a PNG before their compression. Source: PNG Specification, Third Edition, 7.2, 8.1 and 11. */
import { brokenFile } from '#worker-image/engine/containers/broken-file.ts';
import type { PngChunk } from '#worker-image/engine/containers/png-chunks.ts';

/** Size and coding of the pixels of an image or a frame. */
export interface PngPixels {
  readonly width: number;
  readonly height: number;
  /** Bits of a pixel. */
  readonly bits: number;
  readonly isInterlaced: boolean;
}

const HEADER_BYTES = 13;
/** Bytes of a frame control up to its size. */
const FRAME_SIZE_BYTES = 12;
/** Samples of a pixel by color type. */
const SAMPLES: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

/** Returns the pixels that the header describes. @throws MediaError processing_failed when it is missing or damaged. */
export function readImagePixels([first]: readonly PngChunk[]): PngPixels {
  const header = first?.type === 'IHDR' && first.data.length >= HEADER_BYTES ? first.data : null;
  const samples = SAMPLES[header?.[9] ?? -1];
  if (header === null || samples === undefined) throw brokenFile('PNG', 'its header is damaged');
  return {
    width: header.readUInt32BE(0),
    height: header.readUInt32BE(4),
    bits: samples * header.readUInt8(8),
    isInterlaced: header[12] === 1,
  };
}

/**
 * Returns the pixels of the frame after an `fcTL` chunk.
 * @throws MediaError processing_failed when it is truncated, or the frame larger than the image.
 */
export function readFramePixels(control: Buffer, image: PngPixels): PngPixels {
  if (control.length < FRAME_SIZE_BYTES) throw brokenFile('PNG', 'a frame control is truncated');
  const [width, height] = [control.readUInt32BE(4), control.readUInt32BE(8)];
  if (width > image.width || height > image.height) throw brokenFile('PNG', 'a frame is larger than the image');
  return { ...image, width, height };
}

/** First column and row of each pass of an interlaced image, and the distances of its columns and rows. */
const PASSES = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const;

/** Returns the size of the rows with their filter bytes. */
export function pixelBytes({ width, height, bits, isInterlaced }: PngPixels): number {
  if (!isInterlaced) return rowBytes(width, height, bits);
  return PASSES.reduce((sum, [x, y, columnStep, rowStep]) => {
    const [columns, rows] = [Math.ceil((width - x) / columnStep), Math.ceil((height - y) / rowStep)];
    return sum + rowBytes(columns, rows, bits);
  }, 0);
}

/** Returns the size of rows. Rows without pixels have no filter byte. */
function rowBytes(columns: number, rows: number, bits: number): number {
  return columns > 0 && rows > 0 ? rows * (1 + Math.ceil((columns * bits) / 8)) : 0;
}
