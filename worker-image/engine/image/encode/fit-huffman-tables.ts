/** Lossless reduction of a JPEG: Huffman tables of its own in place of the standard ones. Source: ITU-T T.81, annex B. */
import { jpegSegments } from '#worker-image/engine/containers/jpeg-headers.ts';
import { optimalTable, type HuffmanTable } from '#worker-image/engine/image/encode/huffman-table.ts';
import { countSymbols, SymbolReader, writeSymbols } from '#worker-image/engine/image/encode/jpeg-symbols.ts';

const [BASELINE, HUFFMAN_TABLE, RESTART_INTERVAL, START_OF_SCAN] = [0xc0, 0xc4, 0xdd, 0xda];
const END_OF_IMAGE = Buffer.from([0xff, 0xd9]);
const MARKER_BYTES = 2;
const SYMBOLS = 256;

/** Maximum size of a file that is rewritten, in bytes: its symbols take up to 16 times as much memory. */
const MAX_BYTES = 8 * 1024 ** 2;

/**
 * Returns the same image with the Huffman tables that fit it. It must have been written at once by the standard ones, with one scan: for
 * any other file, and for a damaged one, returns null.
 */
export function fitHuffmanTables(jpeg: Buffer): Buffer | null {
  const parts = jpeg.length > MAX_BYTES ? null : splitJpeg(jpeg);
  if (parts === null) return null;
  const reader = new SymbolReader(parts.scan, parts.tables);
  const { units, blocks } = parts;
  for (let unit = 0; unit < units; unit += 1)
    for (const { dc, ac } of blocks) if (!reader.readBlock(dc, ac)) return null;
  const symbols = reader.end();
  if (symbols === null) return null;
  const counts = countSymbols(symbols);
  const tables = parts.tables.map((_, at) => optimalTable(counts.subarray(at * SYMBOLS, (at + 1) * SYMBOLS)));
  return Buffer.concat([
    ...parts.headers,
    ...tables.map(tableSegment),
    parts.scanHeader,
    writeSymbols(symbols, tables),
    END_OF_IMAGE,
  ]);
}

/** Tables of a block, by their index: those of DC are even, those of AC odd. */
interface Block {
  readonly dc: number;
  readonly ac: number;
}

interface JpegParts {
  /** Everything before the scan but its Huffman tables. */
  readonly headers: readonly Buffer[];
  readonly tables: readonly HuffmanTable[];
  readonly scanHeader: Buffer;
  readonly scan: Buffer;
  /** Number of units, each with the same blocks: those of all components for an area of the image. */
  readonly units: number;
  readonly blocks: readonly Block[];
}

/** Returns the parts; null for a file of other structure. */
function splitJpeg(jpeg: Buffer): JpegParts | null {
  const segments = [...jpegSegments(jpeg)];
  const contentOf = (marker: number): Buffer[] =>
    segments.filter((one) => one.marker === marker).map((one) => content(jpeg, one.start));
  const [[frame], [scanHeader], tables] = [contentOf(BASELINE), contentOf(START_OF_SCAN), contentOf(HUFFMAN_TABLE)];
  const isWhole = jpeg.subarray(-END_OF_IMAGE.length).equals(END_OF_IMAGE);
  if (frame === undefined || scanHeader === undefined || !isWhole || contentOf(RESTART_INTERVAL).length > 0)
    return null;
  const layout = layOut(frame, scanHeader);
  if (layout === null || !tables.every((table, at) => table[0] === TABLE_IDS[at])) return null;
  const scanAt = scanHeader.byteOffset - jpeg.byteOffset + scanHeader.length;
  const scan = jpeg.subarray(scanAt, -END_OF_IMAGE.length);
  if (hasMarker(scan)) return null;
  const kept = segments.filter(({ marker }) => marker !== HUFFMAN_TABLE && marker !== START_OF_SCAN);
  return {
    ...layout,
    headers: [jpeg.subarray(0, MARKER_BYTES), ...kept.map(({ start }) => wholeSegment(jpeg, start))],
    tables: tables.map((table) => ({ counts: table.subarray(1, 17), symbols: table.subarray(17) })),
    scanHeader: wholeSegment(jpeg, scanAt - scanHeader.length - SEGMENT_HEADER),
    scan,
  };
}

/** Returns whether a byte of 255 is not followed by 0, which makes it data. */
function hasMarker(scan: Buffer): boolean {
  for (let at = scan.indexOf(0xff); at !== -1; at = scan.indexOf(0xff, at + 1)) if (scan[at + 1] !== 0) return true;
  return false;
}

/** Class and identifier of the tables in the order in which they are written: DC and AC of brightness, DC and AC of color. */
const TABLE_IDS: readonly number[] = [0x00, 0x10, 0x01, 0x11];
/** Marker and length. */
const SEGMENT_HEADER = 4;

function wholeSegment(jpeg: Buffer, start: number): Buffer {
  return jpeg.subarray(start, start + MARKER_BYTES + jpeg.readUInt16BE(start + MARKER_BYTES));
}

function content(jpeg: Buffer, start: number): Buffer {
  return wholeSegment(jpeg, start).subarray(SEGMENT_HEADER);
}

/** Size in pixels of a block. */
const BLOCK = 8;

/** Returns the blocks of the scan; null when it holds other components than the frame. */
function layOut(frame: Buffer, scanHeader: Buffer): Pick<JpegParts, 'units' | 'blocks'> | null {
  const [height, width, count] = [frame.readUInt16BE(1), frame.readUInt16BE(3), frame[5] ?? 0];
  if (scanHeader[0] !== count) return null;
  const components = Array.from({ length: count }, (_, at) => ({
    id: frame[6 + 3 * at],
    across: (frame[7 + 3 * at] ?? 0) >> 4,
    down: (frame[7 + 3 * at] ?? 0) & 15,
    scanId: scanHeader[1 + 2 * at],
    table: (scanHeader[2 + 2 * at] ?? 0) & 1,
  }));
  if (components.some(({ id, scanId }) => id !== scanId)) return null;
  const isSingle = count === 1;
  const [across, down] = isSingle ? [1, 1] : [maxOf(components, 'across'), maxOf(components, 'down')];
  return {
    units: Math.ceil(width / (BLOCK * across)) * Math.ceil(height / (BLOCK * down)),
    blocks: components.flatMap(({ table, ...each }) =>
      Array.from({ length: isSingle ? 1 : each.across * each.down }, () => ({ dc: 2 * table, ac: 2 * table + 1 })),
    ),
  };
}

function maxOf<Key extends string>(rows: readonly Readonly<Record<Key, number>>[], key: Key): number {
  return Math.max(...rows.map((row) => row[key]));
}

function tableSegment({ counts, symbols }: HuffmanTable, at: number): Buffer {
  const header = Buffer.from([0xff, HUFFMAN_TABLE, 0, 0, TABLE_IDS[at] ?? 0]);
  header.writeUInt16BE(header.length - MARKER_BYTES + counts.length + symbols.length, MARKER_BYTES);
  return Buffer.concat([header, counts, symbols]);
}
