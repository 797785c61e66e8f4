/** Directories of TIFF files, and of the camera RAW formats built on them. */
import { hasBytes } from '#worker-image/engine/containers/has-bytes.ts';
import type { FileReader } from '#worker-image/engine/containers/file-reader.ts';

/** Numbers of tags. Source: TIFF 6.0, DNG. */
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
/** Value of `planar` when each color channel has its own strips. */
export const SEPARATE_PLANES = 2;
/** Values of `sampleFormat`. */
export const SAMPLE_FORMAT = { unsigned: 1, signed: 2, float: 3 } as const;
/** Value type of integers with two bytes. */
const SHORT = 3;
/** Maximum number of directories that are read, and of entries in each. */
const MAX_DIRECTORIES = 16;
const MAX_ENTRIES = 512;

interface TiffEntry {
  /** Type of the values. */
  readonly type: number;
  readonly count: number;
  /** The value when there is one, else the offset of the values. */
  readonly number: number;
  /** The four bytes of value or offset. */
  readonly bytes: Buffer;
}
/** The entries of a directory, by tag. */
export type TiffEntries = ReadonlyMap<number, TiffEntry>;

/** Returns the entries of the first page; none for BigTIFF and for what is not TIFF. */
export async function firstTiffDirectory(file: FileReader): Promise<TiffEntries> {
  const isTiff = hasBytes(file.head, 'II*\0') || hasBytes(file.head, 'MM\0*');
  return isTiff ? (await readDirectory(file, integerReaders(file).u32(file.head, 4))).entries : new Map();
}

/** Returns at most `max` integers of an entry, of two or four bytes each; none when the tag is missing. */
export async function tiffNumbers(file: FileReader, entries: TiffEntries, tag: number, max: number): Promise<number[]> {
  const entry = entries.get(tag);
  if (entry === undefined) return [];
  const { u16, u32 } = integerReaders(file);
  const [width, read] = entry.type === SHORT ? [2, u16] : [4, u32];
  const count = Math.min(entry.count, max);
  const bytes = entry.count * width <= 4 ? entry.bytes : await file.read(u32(entry.bytes, 0), count * width);
  return Array.from({ length: Math.min(count, Math.floor(bytes.length / width)) }, (_, at) => read(bytes, at * width));
}

/** Returns the number of an entry that holds one; `otherwise` when the tag is missing. */
export function tiffNumber(entries: TiffEntries, tag: number, otherwise = 0): number {
  return entries.get(tag)?.number ?? otherwise;
}

/** Returns the directories of all pages, and those nested in them, each once. */
export async function readTiffDirectories(file: FileReader): Promise<TiffEntries[]> {
  const { u32 } = integerReaders(file);
  const found: TiffEntries[] = [];
  const seen = new Set<number>();
  const pending = [u32(file.head, 4)];
  while (pending.length > 0 && found.length < MAX_DIRECTORIES) {
    const offset = pending.shift() ?? 0;
    if (offset < 8 || offset >= file.size || seen.has(offset)) continue;
    seen.add(offset);
    const { entries, next } = await readDirectory(file, offset);
    found.push(entries);
    pending.push(next, ...(await subDirectoryOffsets(file, entries)));
  }
  return found;
}

async function readDirectory(file: FileReader, offset: number): Promise<{ entries: TiffEntries; next: number }> {
  const { u16, u32 } = integerReaders(file);
  const count = Math.min(u16(await file.read(offset, 2), 0), MAX_ENTRIES);
  const bytes = await file.read(offset + 2, count * 12 + 4);
  const entries = new Map<number, TiffEntry>();
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

async function subDirectoryOffsets(file: FileReader, entries: TiffEntries): Promise<number[]> {
  const { u32 } = integerReaders(file);
  const entry = entries.get(TIFF_TAG.subIfds);
  if (entry === undefined) return [];
  const count = Math.min(entry.count, MAX_DIRECTORIES);
  if (count === 1) return [entry.number];
  const bytes = await file.read(entry.number, count * 4);
  return Array.from({ length: count }, (_, index) => u32(bytes, index * 4));
}

/** Returns readers of integers in the file's byte order, which return 0 past the end. */
function integerReaders(file: FileReader): {
  u16: (b: Buffer, at: number) => number;
  u32: (b: Buffer, at: number) => number;
} {
  const isLittle = file.head[0] === 0x49;
  return {
    u16: (b, at) => (at + 2 > b.length ? 0 : isLittle ? b.readUInt16LE(at) : b.readUInt16BE(at)),
    u32: (b, at) => (at + 4 > b.length ? 0 : isLittle ? b.readUInt32LE(at) : b.readUInt32BE(at)),
  };
}
