/** Directories of a TIFF or BigTIFF with the offsets of entries and values. Source: TIFF 6.0; BigTIFF design. */
import { brokenFile } from '#worker-image/engine/image/strip/strip-refusal.ts';

export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

export interface TiffEntry {
  readonly tag: number;
  readonly type: number;
  readonly count: number;
  /** Offset of the entry. */
  readonly at: number;
  /** Range of the values, which may be inside the entry. */
  readonly values: ByteRange;
}

export interface TiffDirectory {
  /** Range of the directory, from the number of entries to the link to the next one. */
  readonly range: ByteRange;
  readonly entries: readonly TiffEntry[];
  /** Offset of the link to the next directory. */
  readonly linkAt: number;
}

export interface Tiff {
  readonly file: Buffer;
  readonly isBig: boolean;
  /** Length of the header, in bytes. */
  readonly headerBytes: number;
  readonly entryBytes: number;
  /** Reads an unsigned number of 2, 4 or 8 bytes. */
  number(at: number, bytes: number): number;
  writeNumber(value: number, at: number, bytes: number): void;
}

const TYPE_BYTES: Readonly<Record<number, number>> = {
  1: 1,
  2: 1,
  3: 2,
  4: 4,
  5: 8,
  6: 1,
  7: 1,
  8: 2,
  9: 4,
  10: 8,
  11: 4,
  12: 8,
  13: 4,
  16: 8,
  17: 8,
  18: 8,
};
const BIG = 43;
const MAX_DIRECTORIES = 10_000;

/** Opens a TIFF in memory. @throws MediaError processing_failed when the header is truncated. */
export function openTiff(file: Buffer): Tiff {
  const isLittle = file.toString('latin1', 0, 2) === 'II';
  if (file.length < 16) throw brokenFile('TIFF', 'its header is cut off');
  const number = (at: number, bytes: number): number => {
    if (at < 0 || at + bytes > file.length) throw brokenFile('TIFF', 'a directory is cut off');
    if (bytes === 8) return Number(isLittle ? file.readBigUInt64LE(at) : file.readBigUInt64BE(at));
    return isLittle ? file.readUIntLE(at, bytes) : file.readUIntBE(at, bytes);
  };
  const isBig = number(2, 2) === BIG;
  return {
    file,
    isBig,
    headerBytes: isBig ? 16 : 8,
    entryBytes: isBig ? 20 : 12,
    number,
    writeNumber: (value, at, bytes) => {
      if (bytes === 8 && isLittle) file.writeBigUInt64LE(BigInt(value), at);
      else if (bytes === 8) file.writeBigUInt64BE(BigInt(value), at);
      else if (isLittle) file.writeUIntLE(value, at, bytes);
      else file.writeUIntBE(value, at, bytes);
    },
  };
}

/** Returns the chain of pages. @throws MediaError processing_failed when it leaves the file or has a cycle. */
export function readDirectories(tiff: Tiff): TiffDirectory[] {
  const linkBytes = tiff.isBig ? 8 : 4;
  const found: TiffDirectory[] = [];
  const seen = new Set<number>();
  let at = tiff.number(tiff.isBig ? 8 : 4, linkBytes);
  while (at !== 0) {
    if (seen.has(at) || found.length >= MAX_DIRECTORIES) throw brokenFile('TIFF', 'its pages lead back to themselves');
    seen.add(at);
    const directory = readDirectoryAt(tiff, at);
    found.push(directory);
    at = tiff.number(directory.linkAt, linkBytes);
  }
  return found;
}

/** Returns the numbers of an entry, such as the offsets of strips. */
export function numbersOf(tiff: Tiff, { type, count, values }: TiffEntry): number[] {
  const bytes = TYPE_BYTES[type] ?? 1;
  return Array.from({ length: count }, (_, i) => tiff.number(values.start + i * bytes, bytes));
}

/** Returns the directory at an offset. @throws MediaError processing_failed when it leaves the file. */
export function readDirectoryAt(tiff: Tiff, at: number): TiffDirectory {
  const countBytes = tiff.isBig ? 8 : 2;
  const count = tiff.number(at, countBytes);
  const linkAt = at + countBytes + count * tiff.entryBytes;
  const range = { start: at, end: linkAt + (tiff.isBig ? 8 : 4) };
  if (range.end > tiff.file.length) throw brokenFile('TIFF', 'a directory is cut off');
  const entries = Array.from({ length: count }, (_, i) => readEntry(tiff, at + countBytes + i * tiff.entryBytes));
  return { range, entries, linkAt };
}

function readEntry(tiff: Tiff, at: number): TiffEntry {
  const wide = tiff.isBig ? 8 : 4;
  const [tag, type, count] = [tiff.number(at, 2), tiff.number(at + 2, 2), tiff.number(at + 4, wide)];
  const bytes = count * (TYPE_BYTES[type] ?? 1);
  const inside = at + 4 + wide;
  const start = bytes <= wide ? inside : tiff.number(inside, wide);
  if (start + bytes > tiff.file.length) throw brokenFile('TIFF', `the values of tag ${tag} are cut off`);
  return { tag, type, count, at, values: { start, end: start + bytes } };
}
