/** Decoder of PNG files with a palette, by which each pixel of a written file is compared with what it was made from. */
import { constants, crc32, inflateSync } from 'node:zlib';
import { readPngChunks, type PngChunk } from '#worker-image/engine/containers/png-chunks.ts';
import { PIXELS_PER_CALL } from '#worker-image/engine/image/encode/count-colors.ts';
import { colorsOf, indexedHeader, OPAQUE, type IndexedImage } from '#worker-image/engine/image/encode/indexed-png.ts';

/** Samples of an entry of PLTE. */
const RGB = 3;
/** Filter of a row whose bytes are the pixels themselves. */
const NO_FILTER = 0;

/** Pixels of a file as they are stored. */
interface StoredRows {
  /** Rows, each behind its filter byte. */
  readonly rows: Buffer;
  readonly rowBytes: number;
  readonly bits: number;
  /** RGBA samples of each position of the palette, as in `ColorCounts`. */
  readonly palette: Uint32Array;
}

/** Decodes the file and compares its checksums, its size and every pixel. @throws Error when one differs. */
export function requirePixels(png: Buffer, image: IndexedImage): void {
  const stored = readRows(png, image);
  const { width, height } = image.size;
  const wanted = colorsOf(image.palette);
  for (let y = 0; y < height; y += 1) {
    if (stored.rows[y * stored.rowBytes] !== NO_FILTER) throw new Error(`Row ${y} of the PNG has a filter.`);
    for (let x = 0; x < width; x += PIXELS_PER_CALL) {
      const end = Math.min(width, x + PIXELS_PER_CALL);
      const part = { y, x, end, width, wanted };
      if (!(stored.bits === 8 ? hasBytes : hasPixels)(stored, image.pixels, part)) {
        throw new Error(`Row ${y} of the PNG differs from what was written.`);
      }
    }
  }
}

/** Part of a row, and the color that each of its pixels has to have. */
interface RowPart {
  readonly y: number;
  readonly x: number;
  readonly end: number;
  /** Pixels of a row. */
  readonly width: number;
  /** RGBA samples by position in `pixels`. */
  readonly wanted: Uint32Array;
}

/** Compares pixels of eight bits. */
function hasBytes({ rows, rowBytes, palette }: StoredRows, pixels: Uint16Array, part: RowPart): boolean {
  const { y, x: begin, end, width, wanted } = part;
  const [row, first] = [y * rowBytes + 1, y * width];
  for (let x = begin; x < end; x += 1) {
    if (palette[rows[row + x] ?? 0] !== wanted[pixels[first + x] ?? 0]) return false;
  }
  return true;
}

function hasPixels({ rows, rowBytes, bits, palette }: StoredRows, pixels: Uint16Array, part: RowPart): boolean {
  const { y, x: begin, end, width, wanted } = part;
  const [row, first] = [y * rowBytes + 1, y * width];
  const mask = (1 << bits) - 1;
  for (let x = begin; x < end; x += 1) {
    const bit = x * bits;
    const position = ((rows[row + (bit >>> 3)] ?? 0) >>> (8 - bits - (bit & 7))) & mask;
    if (palette[position] !== wanted[pixels[first + x] ?? 0]) return false;
  }
  return true;
}

function readRows(png: Buffer, { size }: IndexedImage): StoredRows {
  const { width, height } = size;
  const chunks = readPngChunks(png) ?? [];
  if (chunks.length === 0 || !chunks.every(hasChecksum))
    throw new Error('The PNG is truncated or a checksum is wrong.');
  const dataOf = (type: string): Buffer =>
    Buffer.concat(chunks.filter((chunk) => chunk.type === type).map(dataOfChunk));
  const header = dataOf('IHDR');
  const bits = header[8] ?? 0;
  if (!header.equals(indexedHeader(size, bits))) throw new Error('The PNG has another header than was written.');
  const rowBytes = 1 + Math.ceil((width * bits) / 8);
  const maxOutputLength = rowBytes * height + 1;
  const chunkSize = Math.max(constants.Z_MIN_CHUNK, maxOutputLength);
  const rows = inflateSync(dataOf('IDAT'), { chunkSize, maxOutputLength });
  if (rows.length !== rowBytes * height) throw new Error(`The PNG has ${rows.length} bytes of pixels.`);
  return { rows, rowBytes, bits, palette: readPalette(dataOf('PLTE'), dataOf('tRNS')) };
}

function dataOfChunk({ data }: PngChunk): Buffer {
  return data;
}

function hasChecksum({ whole }: PngChunk): boolean {
  return crc32(whole.subarray(4, -4)) === whole.readUInt32BE(whole.length - 4);
}

function readPalette(entries: Buffer, opacities: Buffer): Uint32Array {
  return Uint32Array.from({ length: entries.length / RGB }, (_, at) => {
    const [red = 0, green = 0, blue = 0] = entries.subarray(at * RGB, (at + 1) * RGB);
    return (((opacities[at] ?? OPAQUE) << 24) | (blue << 16) | (green << 8) | red) >>> 0;
  });
}
