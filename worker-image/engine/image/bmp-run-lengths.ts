/** RLE4 and RLE8: a BMP's pixels as runs, copied stretches, and moves of the pen. */
import { damaged, type BmpHeader } from '#worker-image/engine/image/bmp-header.ts';

interface Pen {
  x: number;
  /** Rows from the bottom. */
  y: number;
}

const END_OF_LINE = 0;
const END_OF_PICTURE = 1;
const MOVE = 2;

/**
 * Palette indices, rows top down; pixels that the file skips are 0.
 * @throws MediaError processing_failed when the file ends within a run, or depth and compression disagree.
 */
export function readRunLengths(bytes: Buffer, header: BmpHeader): Uint8Array {
  if (header.bits !== (header.compression === 'rle4' ? 4 : 8)) throw damaged('its depth and its compression disagree');
  const indices = new Uint8Array(header.width * header.height);
  const pen: Pen = { x: 0, y: 0 };
  const put = (index: number): void => draw(indices, header, { pen, index });
  let at = header.pixelOffset;
  while (at + 1 < bytes.length) {
    const [count, value] = [bytes[at] ?? 0, bytes[at + 1] ?? 0];
    if (count === 0 && value === END_OF_PICTURE) return indices;
    for (let i = 0; i < count; i += 1) put(indexIn(header, value, i));
    at = count > 0 ? at + 2 : escape(bytes, at + 2, { value, header, pen, put });
  }
  throw damaged('it ends before its end mark');
}

interface Escape {
  readonly value: number;
  readonly header: BmpHeader;
  readonly pen: Pen;
  readonly put: (index: number) => void;
}

/** What a run of no pixels stands for; gives the position behind it. */
function escape(bytes: Buffer, at: number, { value, header, pen, put }: Escape): number {
  if (value === END_OF_LINE) {
    newLine(pen);
    return at;
  }
  return value === MOVE ? move(bytes, at, pen) : copy(bytes, at, { count: value, header, put });
}

/** What lies outside the picture is not drawn. */
function draw(indices: Uint8Array, header: BmpHeader, { pen, index }: { pen: Pen; index: number }): void {
  if (pen.x < header.width && pen.y < header.height) {
    const row = header.topDown ? pen.y : header.height - 1 - pen.y;
    indices[row * header.width + pen.x] = index;
  }
  pen.x += 1;
}

function newLine(pen: Pen): void {
  pen.x = 0;
  pen.y += 1;
}

function move(bytes: Buffer, at: number, pen: Pen): number {
  pen.x += bytes[at] ?? 0;
  pen.y += bytes[at + 1] ?? 0;
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
  // Stretches end on an even byte.
  return at + length + (length % 2);
}

/** In RLE4 a byte holds two pixels, the left one in its upper half. */
function indexIn(header: BmpHeader, byte: number, position: number): number {
  if (header.bits === 8) return byte;
  return position % 2 === 0 ? byte >> 4 : byte & 15;
}
