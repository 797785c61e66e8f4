import { describe, expect, it } from 'vitest';
import { fileReaderOf } from '#test/fixtures/memory-file-reader.ts';
import {
  countTiffPages,
  firstTiffDirectory,
  readTiffDirectories,
  TIFF_TAG,
  tiffNumber,
  tiffNumbers,
  tiffRational,
} from '#worker-image/engine/containers/tiff.ts';

type Entry = readonly [tag: number, type: number, count: number, value: number];

/** Returns one directory, little-endian: a count, entries of 12 bytes, and the offset of the next directory. */
function directory(entries: readonly Entry[], next = 0): Buffer {
  const bytes = Buffer.alloc(2 + entries.length * 12 + 4);
  bytes.writeUInt16LE(entries.length);
  for (const [index, [tag, type, count, value]] of entries.entries()) {
    const at = 2 + index * 12;
    bytes.writeUInt16LE(tag, at);
    bytes.writeUInt16LE(type, at + 2);
    bytes.writeUInt32LE(count, at + 4);
    bytes.writeUInt32LE(value, at + 8);
  }
  bytes.writeUInt32LE(next, bytes.length - 4);
  return bytes;
}

const SHORT = 3;
const LONG = 4;
const HEADER = Buffer.from('II*\0\x08\0\0\0', 'latin1');

describe('firstTiffDirectory', () => {
  it('returns numbers in place and numbers at an offset', async () => {
    const entries = directory([
      [TIFF_TAG.width, SHORT, 1, 640],
      [TIFF_TAG.offsets, LONG, 3, 8 + 30],
    ]);
    const offsets = Buffer.from('0100000002000000', 'hex');
    const file = fileReaderOf(Buffer.concat([HEADER, entries, offsets]));
    const found = await firstTiffDirectory(file);
    expect(tiffNumber(found, TIFF_TAG.width)).toBe(640);
    expect(tiffNumber(found, TIFF_TAG.height, 7)).toBe(7);
    // The third offset is beyond the end of the file.
    expect(await tiffNumbers(file, found, TIFF_TAG.offsets, 10)).toEqual([1, 2]);
    expect(await tiffNumbers(file, found, TIFF_TAG.offsets, 1)).toEqual([1]);
    expect(await tiffNumbers(file, found, TIFF_TAG.lengths, 10)).toEqual([]);
  });

  it('returns no entries for other files, and only whole ones of a truncated directory', async () => {
    expect((await firstTiffDirectory(fileReaderOf(Buffer.from('II+\0\x08\0\0\0')))).size).toBe(0);
    const truncated = directory([
      [TIFF_TAG.width, SHORT, 1, 640],
      [TIFF_TAG.height, SHORT, 1, 480],
    ]).subarray(0, 20);
    const found = await firstTiffDirectory(fileReaderOf(Buffer.concat([HEADER, truncated])));
    expect([...found.keys()]).toEqual([TIFF_TAG.width]);
  });
});

describe('tiffRational', () => {
  const RATIONAL = 5;

  it.each<readonly [string, number, readonly [number, number], number | null]>([
    ['a quotient', RATIONAL, [2040, 10], 204],
    ['0', RATIONAL, [0, 10], null],
    ['a denominator of 0', RATIONAL, [204, 0], null],
    ['another type', LONG, [204, 1], null],
  ])('reads %s', async (_what, type, [numerator, denominator], expected) => {
    const values = Buffer.alloc(8);
    values.writeUInt32LE(numerator, 0);
    values.writeUInt32LE(denominator, 4);
    const file = fileReaderOf(Buffer.concat([HEADER, directory([[TIFF_TAG.xResolution, type, 1, 8 + 18]]), values]));
    expect(await tiffRational(file, await firstTiffDirectory(file), TIFF_TAG.xResolution)).toBe(expected);
    expect(await tiffRational(file, new Map(), TIFF_TAG.xResolution)).toBeNull();
  });
});

describe('countTiffPages', () => {
  const width = [TIFF_TAG.width, SHORT, 1, 640] as const;
  const [first, last] = [directory([width], 8 + 18), directory([width])];
  const subfile = (value: number, next = 0): Buffer => directory([[TIFF_TAG.subfileType, LONG, 1, value]], next);

  it.each<readonly [string, Buffer, number]>([
    ['one page', Buffer.concat([HEADER, last]), 1],
    ['two pages', Buffer.concat([HEADER, first, last]), 2],
    ['two pages without the last link', Buffer.concat([HEADER, first, last.subarray(0, -4)]), 2],
    ['a link beyond the end', Buffer.concat([HEADER, directory([width], 9999)]), 1],
    ['a page that links to itself', Buffer.concat([HEADER, directory([width], 8)]), 1],
    ['a page without entries', Buffer.concat([HEADER, first, directory([])]), 1],
    ['no byte order', Buffer.from('no TIFF'), 0],
    ['a smaller version', Buffer.concat([HEADER, first, subfile(1)]), 1],
    ['a transparency mask', Buffer.concat([HEADER, first, subfile(4)]), 1],
    ['a page of several', Buffer.concat([HEADER, first, subfile(2)]), 2],
    ['smaller versions only', Buffer.concat([HEADER, subfile(1, 8 + 18), subfile(1)]), 2],
  ])('counts the pages of a file with %s', async (_what, bytes, pages) => {
    expect(await countTiffPages(fileReaderOf(bytes))).toBe(pages);
  });

  it('counts 10,000 pages at most', async () => {
    const pages = Array.from({ length: 10_001 }, (_, index) => directory([width], 8 + 18 * (index + 1)));
    expect(await countTiffPages(fileReaderOf(Buffer.concat([HEADER, ...pages])))).toBe(10_000);
  });
});

describe('readTiffDirectories', () => {
  it('reads a directory that refers to itself once', async () => {
    const loop = directory([[TIFF_TAG.subIfds, LONG, 1, 8]], 8);
    expect(await readTiffDirectories(fileReaderOf(Buffer.concat([HEADER, loop])))).toHaveLength(1);
  });

  it('reads 16 directories at most', async () => {
    const chain = Array.from({ length: 40 }, (_, index) => directory([], 8 + 6 * (index + 1)));
    expect(await readTiffDirectories(fileReaderOf(Buffer.concat([HEADER, ...chain])))).toHaveLength(16);
  });
});
