import type { Format } from '#crds/formats.ts';
import { formatOfName } from '#crds/formats.ts';
import { has } from '#worker-image/engine/identify/signatures.ts';
import type { SniffedFile } from '#worker-image/engine/identify/sniffed-file.ts';
import { unsupported } from '#worker-image/engine/identify/unsupported.ts';

/** Tags by name. Source: TIFF 6.0, DNG. */
export const TIFF_TAG = {
  width: 256,
  height: 257,
  bits: 258,
  compression: 259,
  photometric: 262,
  make: 271,
  offsets: 273,
  orientation: 274,
  samples: 277,
  rowsPerStrip: 278,
  lengths: 279,
  planar: 284,
  predictor: 317,
  tileWidth: 322,
  subIfds: 330,
  sampleFormat: 339,
  profile: 34_675,
  dngVersion: 50_706,
} as const;
/** The value of `planar` when each colour has strips of its own. */
export const SEPARATE_PLANES = 2;
/** Values of `sampleFormat`: whole numbers, those with a sign, and numbers with a point. */
export const SAMPLE_FORMAT = { unsigned: 1, signed: 2, float: 3 } as const;
const CFA = 32_803;
/** Compressions that only Nikon's and Sony's RAW files use. */
const RAW_COMPRESSIONS: readonly number[] = [34_713, 32_767];
/** TIFF's number for the type of two bytes. */
const SHORT = 3;
const MAX_DIRECTORIES = 16;
const MAX_ENTRIES = 512;

/** Other marks in place of TIFF's 42. */
const MARKED: readonly (readonly [bytes: string, format: Format])[] = [
  ['IIRO', 'orf'],
  ['IIRS', 'orf'],
  ['MMOR', 'orf'],
  ['IIU\0', 'rw2'],
];

interface Entry {
  /** TIFF's number of the values' type. */
  readonly type: number;
  readonly count: number;
  /** The value when it is one number, else the offset of the values. */
  readonly number: number;
  /** The same four bytes. */
  readonly bytes: Buffer;
}
export type TiffEntries = ReadonlyMap<number, Entry>;

/**
 * TIFF and the camera RAW formats built on it; null when it is none. A TIFF that a photo program made of
 * a RAW still names the camera, so RAW needs sensor data in a directory, or the RAW's own file name.
 */
export async function formatOfTiff(file: SniffedFile): Promise<Format | null> {
  const marked = MARKED.find(([bytes]) => has(file.head, bytes));
  if (marked !== undefined) return marked[1];
  if (has(file.head, 'II+\0') || has(file.head, 'MM\0+')) return 'tiff';
  if (!has(file.head, 'II*\0') && !has(file.head, 'MM\0*')) return null;
  if (has(file.head, 'CR\x02', 8)) return 'cr2';
  return rawOrTiff(file, await directories(file));
}

/** The entries of the first page, of a TIFF that is no BigTIFF; empty when they cannot be read. */
export async function firstTiffDirectory(file: SniffedFile): Promise<TiffEntries> {
  const isTiff = has(file.head, 'II*\0') || has(file.head, 'MM\0*');
  return isTiff ? (await directory(file, numbers(file).u32(file.head, 4))).entries : new Map();
}

/** The whole numbers of an entry of two or four bytes each, `most` of them at most; none when the tag is missing. */
export async function tiffNumbers(
  file: SniffedFile,
  entries: TiffEntries,
  tag: number,
  most: number,
): Promise<number[]> {
  const entry = entries.get(tag);
  if (entry === undefined) return [];
  const { u16, u32 } = numbers(file);
  const [width, read] = entry.type === SHORT ? [2, u16] : [4, u32];
  const count = Math.min(entry.count, most);
  const bytes = entry.count * width <= 4 ? entry.bytes : await file.read(u32(entry.bytes, 0), count * width);
  return Array.from({ length: Math.min(count, Math.floor(bytes.length / width)) }, (_, at) => read(bytes, at * width));
}

/** Of an entry that holds one number; `otherwise` where the tag is missing. */
export function tiffNumber(entries: TiffEntries, tag: number, otherwise = 0): number {
  return entries.get(tag)?.number ?? otherwise;
}

async function rawOrTiff(file: SniffedFile, found: readonly TiffEntries[]): Promise<Format> {
  if (found.some((entries) => entries.has(TIFF_TAG.dngVersion))) return 'dng';
  const maker = await makerOf(file, found);
  const format = maker.startsWith('NIKON') ? 'nef' : maker.startsWith('SONY') ? 'arw' : null;
  const isRaw = found.some(hasSensorData);
  if (format !== null && (isRaw || formatOfName(file.filename) === format)) return format;
  if (isRaw && maker !== '') throw unsupported(`a camera RAW file of ${maker.slice(0, 40)}`);
  return 'tiff';
}

function hasSensorData(entries: TiffEntries): boolean {
  return (
    tiffNumber(entries, TIFF_TAG.photometric) === CFA ||
    RAW_COMPRESSIONS.includes(tiffNumber(entries, TIFF_TAG.compression))
  );
}

async function makerOf(file: SniffedFile, found: readonly TiffEntries[]): Promise<string> {
  const make = found.map((entries) => entries.get(TIFF_TAG.make)).find((entry) => entry !== undefined);
  if (make === undefined) return '';
  const bytes = make.count <= 4 ? make.bytes : await file.read(make.number, Math.min(make.count, 64));
  return bytes.toString('latin1').replace(/\0.*$/s, '').trim().toUpperCase();
}

/** The chain of directories and those below them, each once. */
async function directories(file: SniffedFile): Promise<TiffEntries[]> {
  const { u32 } = numbers(file);
  const found: TiffEntries[] = [];
  const seen = new Set<number>();
  const due = [u32(file.head, 4)];
  while (due.length > 0 && found.length < MAX_DIRECTORIES) {
    const offset = due.shift() ?? 0;
    if (offset < 8 || offset >= file.size || seen.has(offset)) continue;
    seen.add(offset);
    const { entries, next } = await directory(file, offset);
    found.push(entries);
    due.push(next, ...(await subDirectories(file, entries)));
  }
  return found;
}

async function directory(file: SniffedFile, offset: number): Promise<{ entries: TiffEntries; next: number }> {
  const { u16, u32 } = numbers(file);
  const count = Math.min(u16(await file.read(offset, 2), 0), MAX_ENTRIES);
  const bytes = await file.read(offset + 2, count * 12 + 4);
  const entries = new Map<number, Entry>();
  for (let at = 0; at + 12 <= bytes.length && at < count * 12; at += 12) {
    const type = u16(bytes, at + 2);
    const isShort = type === SHORT && u32(bytes, at + 4) === 1;
    entries.set(u16(bytes, at), {
      type,
      count: u32(bytes, at + 4),
      number: isShort ? u16(bytes, at + 8) : u32(bytes, at + 8),
      bytes: bytes.subarray(at + 8, at + 12),
    });
  }
  return { entries, next: u32(bytes, count * 12) };
}

async function subDirectories(file: SniffedFile, entries: TiffEntries): Promise<number[]> {
  const { u32 } = numbers(file);
  const entry = entries.get(TIFF_TAG.subIfds);
  if (entry === undefined) return [];
  const count = Math.min(entry.count, MAX_DIRECTORIES);
  if (count === 1) return [entry.number];
  const bytes = await file.read(entry.number, count * 4);
  return Array.from({ length: count }, (_, index) => u32(bytes, index * 4));
}

/** Numbers in the file's byte order; 0 past the end. */
function numbers(file: SniffedFile): {
  u16: (b: Buffer, at: number) => number;
  u32: (b: Buffer, at: number) => number;
} {
  const isLittle = file.head[0] === 0x49;
  return {
    u16: (b, at) => (at + 2 > b.length ? 0 : isLittle ? b.readUInt16LE(at) : b.readUInt16BE(at)),
    u32: (b, at) => (at + 4 > b.length ? 0 : isLittle ? b.readUInt32LE(at) : b.readUInt32BE(at)),
  };
}
