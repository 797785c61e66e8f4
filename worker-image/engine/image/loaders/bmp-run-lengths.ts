/** RLE4 and RLE8 decoder of BMP: runs, literal pixels and moves of the cursor. */
import { damaged, type BmpHeader } from '#worker-image/engine/image/loaders/bmp-header.ts';

interface PixelCursor {
  x: number;
  /** Row, from the bottom. */
  y: number;
}

const END_OF_LINE = 0;
const END_OF_IMAGE = 1;
const MOVE = 2;

/**
 * Returns palette indices, rows top down; pixels that the file skips are 0.
 * @throws MediaError processing_failed when the file ends within a run, or depth and compression disagree.
 */
export function readRunLengths(bytes: Buffer, header: BmpHeader): Uint8Array {
  if (header.bits !== (header.compression === 'rle4' ? 4 : 8))
    throw damaged('its bit depth does not match its compression');
  const indices = new Uint8Array(header.width * header.height);
  const cursor: PixelCursor = { x: 0, y: 0 };
  const put = (index: number): void => draw(indices, header, { cursor, index });
  let at = header.pixelOffset;
  while (at + 1 < bytes.length) {
    const [count, value] = [bytes[at] ?? 0, bytes[at + 1] ?? 0];
    if (count === 0 && value === END_OF_IMAGE) return indices;
    for (let i = 0; i < count; i += 1) put(indexIn(header, value, i));
    at = count > 0 ? at + 2 : escape(bytes, at + 2, { value, header, cursor, put });
  }
  throw damaged('its end marker is missing');
}

interface EscapeCode {
  readonly value: number;
  readonly header: BmpHeader;
  readonly cursor: PixelCursor;
  readonly put: (index: number) => void;
}

/** Applies an escape code, which is a run of no pixels, and returns the position after it. */
function escape(bytes: Buffer, at: number, { value, header, cursor, put }: EscapeCode): number {
  if (value === END_OF_LINE) {
    newLine(cursor);
    return at;
  }
  return value === MOVE ? move(bytes, at, cursor) : copy(bytes, at, { count: value, header, put });
}

/** Sets the pixel at the cursor unless it is outside the image, and moves on. */
function draw(indices: Uint8Array, header: BmpHeader, { cursor, index }: { cursor: PixelCursor; index: number }): void {
  if (cursor.x < header.width && cursor.y < header.height) {
    const row = header.topDown ? cursor.y : header.height - 1 - cursor.y;
    indices[row * header.width + cursor.x] = index;
  }
  cursor.x += 1;
}

function newLine(cursor: PixelCursor): void {
  cursor.x = 0;
  cursor.y += 1;
}

function move(bytes: Buffer, at: number, cursor: PixelCursor): number {
  cursor.x += bytes[at] ?? 0;
  cursor.y += bytes[at + 1] ?? 0;
  return at + 2;
}

function copy(
  bytes: Buffer,
  at: number,
  run: { count: number; header: BmpHeader; put: (index: number) => void },
): number {
  const length = run.header.bits === 4 ? Math.ceil(run.count / 2) : run.count;
  for (let i = 0; i < run.count; i += 1) {
    run.put(indexIn(run.header, bytes[at + (run.header.bits === 4 ? i >> 1 : i)] ?? 0, i));
  }
  // Literal pixels are padded to an even number of bytes.
  return at + length + (length % 2);
}

/** In RLE4 a byte holds two pixels, the left one in its upper half. */
function indexIn(header: BmpHeader, byte: number, position: number): number {
  if (header.bits === 8) return byte;
  return position % 2 === 0 ? byte >> 4 : byte & 15;
}
