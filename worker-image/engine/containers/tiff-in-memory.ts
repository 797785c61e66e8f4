/** A TIFF, BigTIFF or EXIF structure that is in memory as a whole: refuses damage, and can be changed in place. */
import { brokenFile } from '#worker-image/engine/containers/broken-file.ts';
import {
  parseTiffDirectory,
  tiffCoding,
  valueBytes,
  type TiffCoding,
  type TiffDirectory,
  type TiffEntry,
} from '#worker-image/engine/containers/tiff.ts';

export interface Tiff {
  readonly file: Buffer;
  readonly coding: TiffCoding;
  /** Length of the header, in bytes. */
  readonly headerBytes: number;
  /** Reads an unsigned number of 1 to 8 bytes. @throws MediaError processing_failed when it is outside the file. */
  number(at: number, width: number): number;
  writeNumber(value: number, at: number, width: number): void;
}

const MIN_BYTES = 16;
const MAX_DIRECTORIES = 10_000;

/** Opens a structure. @throws MediaError processing_failed when its header is truncated or names no byte order. */
export function openTiff(file: Buffer): Tiff {
  const coding = tiffCoding(file);
  if (coding === null || file.length < MIN_BYTES) throw brokenFile('TIFF', 'its header is damaged or truncated');
  return {
    file,
    coding,
    headerBytes: coding.firstLinkAt + coding.offsetBytes,
    number: (at, width) => {
      if (at < 0 || at + width > file.length) throw brokenFile('TIFF', 'a directory is truncated');
      return coding.number(file, at, width);
    },
    writeNumber: (value, at, width) => {
      if (width === 8 && coding.isLittle) file.writeBigUInt64LE(BigInt(value), at);
      else if (width === 8) file.writeBigUInt64BE(BigInt(value), at);
      else if (coding.isLittle) file.writeUIntLE(value, at, width);
      else file.writeUIntBE(value, at, width);
    },
  };
}

/** Returns the chain of pages. @throws MediaError processing_failed when it leaves the file, has a cycle or overlaps. */
export function readDirectories(tiff: Tiff): TiffDirectory[] {
  const found: TiffDirectory[] = [];
  const seen = new Set<number>();
  let bytes = 0;
  let at = firstLink(tiff);
  while (at !== 0) {
    if (seen.has(at) || found.length >= MAX_DIRECTORIES) throw brokenFile('TIFF', 'its pages form a cycle');
    seen.add(at);
    const directory = readDirectoryAt(tiff, at);
    found.push(directory);
    bytes += directory.range.end - directory.range.start;
    if (bytes > tiff.file.length) throw brokenFile('TIFF', 'its pages overlap');
    at = directory.next;
  }
  return found;
}

/** Returns the first page; null without one. @throws MediaError processing_failed when it leaves the file. */
export function readFirstDirectory(tiff: Tiff): TiffDirectory | null {
  const at = firstLink(tiff);
  return at === 0 ? null : readDirectoryAt(tiff, at);
}

function firstLink(tiff: Tiff): number {
  return tiff.number(tiff.coding.firstLinkAt, tiff.coding.offsetBytes);
}

/** Returns the numbers of an entry, such as the offsets of strips. */
export function numbersOf(tiff: Tiff, { type, count, values }: TiffEntry): number[] {
  const width = valueBytes(type);
  return Array.from({ length: count }, (_, index) => tiff.number(values.start + index * width, width));
}

/** Returns the directory at an offset. @throws MediaError processing_failed when it or a value leaves the file. */
export function readDirectoryAt(tiff: Tiff, at: number): TiffDirectory {
  const { file, coding } = tiff;
  const { countBytes, entryBytes, offsetBytes } = coding;
  const end = at + countBytes + tiff.number(at, countBytes) * entryBytes + offsetBytes;
  if (end > file.length) throw brokenFile('TIFF', 'a directory is truncated');
  const directory = parseTiffDirectory(coding, file.subarray(at, end), at);
  const outside = directory.entries.find(({ values }) => values.end > file.length);
  if (outside !== undefined) throw brokenFile('TIFF', `the values of tag ${outside.tag} are truncated`);
  return directory;
}
