/**
 * Directories of TIFF and BigTIFF files, of EXIF, and of the camera RAW formats built on TIFF. Sources: TIFF 6.0, BigTIFF
 * design. A file that is not in memory is read in parts; `tiff-in-memory.ts` reads and changes a whole one.
 */
import { hasBytes } from '#worker-image/engine/containers/has-bytes.ts';
import type { FileReader } from '#worker-image/engine/containers/file-reader.ts';

/** Numbers of tags. Source: TIFF 6.0, DNG. */
export const TIFF_TAG = {
  subfileType: 254,
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
  xResolution: 282,
  yResolution: 283,
  planar: 284,
  resolutionUnit: 296,
  predictor: 317,
  tileWidth: 322,
  subIfds: 330,
  extraSamples: 338,
  sampleFormat: 339,
  profile: 34_675,
  dngVersion: 50_706,
} as const;
/** Bit of `subfileType` of a directory that is a smaller version of another one. */
export const REDUCED = 1;
/** Bit of `subfileType` of a directory that is the transparency mask of another one. */
const MASK = 4;
/** Value of `planar` when each color channel has its own strips. */
export const SEPARATE_PLANES = 2;
/** Values of `sampleFormat`. */
export const SAMPLE_FORMAT = { unsigned: 1, signed: 2, float: 3 } as const;
/** Value types of integers with two bytes, and of quotients of two integers with four bytes. */
const [SHORT, RATIONAL] = [3, 5];
/** Version of TIFF; BigTIFF and RAW formats have others. */
const CLASSIC = 42;
/** Maximum number of directories that are read, and of entries in each. */
const MAX_DIRECTORIES = 16;
const MAX_ENTRIES = 512;

/** Range of bytes of a file. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

export interface TiffEntry {
  readonly tag: number;
  /** Type of the values. */
  readonly type: number;
  readonly count: number;
  /** Offset of the entry. */
  readonly at: number;
  /** The value when there is one of four bytes at most, else the offset of the values. */
  readonly number: number;
  /** Range of the values, which may be inside the entry. */
  readonly values: ByteRange;
}

/** The entries of a directory, by tag. */
export type TiffEntries = ReadonlyMap<number, TiffEntry>;

export interface TiffDirectory {
  /** Range of the directory, from the number of entries to the offset of the next directory. */
  readonly range: ByteRange;
  readonly entries: readonly TiffEntry[];
  /** Position of the offset of the next directory. */
  readonly linkAt: number;
  /** Offset of the next directory; 0 for the last one. */
  readonly next: number;
}

/** Byte order and field widths of a TIFF structure. */
export interface TiffCoding {
  readonly isLittle: boolean;
  readonly isBig: boolean;
  /** Width of the number of entries, in bytes. */
  readonly countBytes: 2 | 8;
  readonly entryBytes: 12 | 20;
  /** Width of offsets and of the number of values, in bytes. */
  readonly offsetBytes: 4 | 8;
  /** Position of the offset of the first directory. */
  readonly firstLinkAt: 4 | 8;
  /** Returns the unsigned number of 1 to 8 bytes at an offset; 0 when it is truncated. */
  readonly number: (bytes: Buffer, at: number, width: number) => number;
}

/** Length of a value by type, in bytes; types 0, 14 and 15 are unknown. */
const TYPE_BYTES: readonly number[] = [1, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 1, 1, 8, 8, 8];
const BIG = 43;

/** Returns byte order and field widths by the first bytes; null when they name no byte order. */
export function tiffCoding(head: Buffer): TiffCoding | null {
  const isLittle = hasBytes(head, 'II');
  if (!isLittle && !hasBytes(head, 'MM')) return null;
  const number = (bytes: Buffer, at: number, width: number): number => {
    if (at < 0 || at + width > bytes.length) return 0;
    if (width === 8) return Number(isLittle ? bytes.readBigUInt64LE(at) : bytes.readBigUInt64BE(at));
    return isLittle ? bytes.readUIntLE(at, width) : bytes.readUIntBE(at, width);
  };
  return number(head, 2, 2) === BIG
    ? { isLittle, isBig: true, countBytes: 8, entryBytes: 20, offsetBytes: 8, firstLinkAt: 8, number }
    : { isLittle, isBig: false, countBytes: 2, entryBytes: 12, offsetBytes: 4, firstLinkAt: 4, number };
}

/** Returns the length of one value of a type, in bytes; 1 for an unknown type. */
export function valueBytes(type: number): number {
  return TYPE_BYTES[type] ?? 1;
}

/** Parses a directory from its bytes, which begin at `start` of the file. Omits entries that are truncated. */
export function parseTiffDirectory(coding: TiffCoding, bytes: Buffer, start: number): TiffDirectory {
  const { countBytes, entryBytes, offsetBytes, number } = coding;
  const count = number(bytes, 0, countBytes);
  const whole = Math.max(0, Math.min(count, Math.floor((bytes.length - countBytes) / entryBytes)));
  const link = countBytes + count * entryBytes;
  return {
    range: { start, end: start + link + offsetBytes },
    entries: Array.from({ length: whole }, (_, index) =>
      parseEntry(coding, bytes.subarray(countBytes + index * entryBytes), start + countBytes + index * entryBytes),
    ),
    linkAt: start + link,
    next: number(bytes, link, offsetBytes),
  };
}

function parseEntry({ number, offsetBytes }: TiffCoding, bytes: Buffer, at: number): TiffEntry {
  const [tag, type, count] = [number(bytes, 0, 2), number(bytes, 2, 2), number(bytes, 4, offsetBytes)];
  const field = 4 + offsetBytes;
  const width = valueBytes(type);
  const start = count * width <= offsetBytes ? at + field : number(bytes, field, offsetBytes);
  const value = number(bytes, field, count === 1 && width <= 4 ? width : offsetBytes);
  return { tag, type, count, at, number: value, values: { start, end: start + count * width } };
}

/** Returns the entries of the first page; none for BigTIFF and for what is not TIFF. */
export async function firstTiffDirectory(file: FileReader): Promise<TiffEntries> {
  const coding = tiffCoding(file.head);
  if (coding === null || coding.number(file.head, 2, 2) !== CLASSIC) return new Map();
  return byTag(await readDirectory(file, coding, coding.number(file.head, coding.firstLinkAt, coding.offsetBytes)));
}

/** Maximum number of pages that are counted. */
const MAX_PAGES = 10_000;

/**
 * Returns the number of pages, 10,000 at most. Smaller versions and masks of a page are no pages. As in libtiff, a directory
 * that was seen or has no entries ends the chain.
 */
export async function countTiffPages(file: FileReader): Promise<number> {
  const coding = tiffCoding(file.head);
  if (coding === null) return 0;
  const { countBytes, entryBytes, offsetBytes, firstLinkAt, number } = coding;
  const readNumber = async (at: number, width: number): Promise<number> => number(await file.read(at, width), 0, width);
  const seen = new Set<number>();
  let pages = 0;
  let at = number(file.head, firstLinkAt, offsetBytes);
  while (at !== 0 && !seen.has(at) && seen.size < MAX_PAGES) {
    const count = await readNumber(at, countBytes);
    if (count === 0) break;
    seen.add(at);
    const entries = byTag(await readDirectory(file, coding, at));
    if ((tiffNumber(entries, TIFF_TAG.subfileType) & (REDUCED | MASK)) === 0) pages += 1;
    at = await readNumber(at + countBytes + count * entryBytes, offsetBytes);
  }
  // Without a page of full size, the smaller ones are all there is.
  return pages === 0 ? seen.size : pages;
}

/** Returns at most `max` integers of an entry, of two or four bytes each; none when the tag is missing. */
export async function tiffNumbers(file: FileReader, entries: TiffEntries, tag: number, max: number): Promise<number[]> {
  const [entry, coding] = [entries.get(tag), tiffCoding(file.head)];
  if (entry === undefined || coding === null) return [];
  const width = entry.type === SHORT ? 2 : 4;
  const count = Math.min(entry.count, max);
  const bytes = await file.read(entry.values.start, count * width);
  const whole = Math.min(count, Math.floor(bytes.length / width));
  return Array.from({ length: whole }, (_, index) => coding.number(bytes, index * width, width));
}

/** Returns the quotient of an entry that holds one; null when it is missing, of another type or no positive number. */
export async function tiffRational(file: FileReader, entries: TiffEntries, tag: number): Promise<number | null> {
  const [entry, coding] = [entries.get(tag), tiffCoding(file.head)];
  if (entry?.type !== RATIONAL || coding === null) return null;
  const bytes = await file.read(entry.values.start, 8);
  const quotient = coding.number(bytes, 0, 4) / coding.number(bytes, 4, 4);
  return quotient > 0 && Number.isFinite(quotient) ? quotient : null;
}

/** Returns the number of an entry that holds one; `otherwise` when the tag is missing. */
export function tiffNumber(entries: TiffEntries, tag: number, otherwise = 0): number {
  return entries.get(tag)?.number ?? otherwise;
}

/** Returns the directories of all pages, and those nested in them, each once. */
export async function readTiffDirectories(file: FileReader): Promise<TiffEntries[]> {
  return [...(await readTiffDirectoriesByOffset(file)).values()];
}

/** Returns the same by the offset of each, in the order in which they are found. */
export async function readTiffDirectoriesByOffset(file: FileReader): Promise<ReadonlyMap<number, TiffEntries>> {
  const found = new Map<number, TiffEntries>();
  const coding = tiffCoding(file.head);
  if (coding === null) return found;
  const seen = new Set<number>();
  const pending = [coding.number(file.head, coding.firstLinkAt, coding.offsetBytes)];
  while (pending.length > 0 && found.size < MAX_DIRECTORIES) {
    const offset = pending.shift() ?? 0;
    if (offset < 8 || offset >= file.size || seen.has(offset)) continue;
    seen.add(offset);
    const directory = await readDirectory(file, coding, offset);
    const entries = byTag(directory);
    found.set(offset, entries);
    pending.push(directory.next, ...(await tiffNumbers(file, entries, TIFF_TAG.subIfds, MAX_DIRECTORIES)));
  }
  return found;
}

async function readDirectory(file: FileReader, coding: TiffCoding, offset: number): Promise<TiffDirectory> {
  const { countBytes, entryBytes, offsetBytes, number } = coding;
  const count = Math.min(number(await file.read(offset, countBytes), 0, countBytes), MAX_ENTRIES);
  const bytes = await file.read(offset, countBytes + count * entryBytes + offsetBytes);
  return parseTiffDirectory(coding, bytes, offset);
}

function byTag({ entries }: TiffDirectory): TiffEntries {
  return new Map(entries.map((entry) => [entry.tag, entry]));
}
