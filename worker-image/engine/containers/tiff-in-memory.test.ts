import { describe, expect, it } from 'vitest';
import { writeTiff } from '#test/fixtures/write-tiff.ts';
import {
  numbersOf,
  openTiff,
  readDirectories,
  readFirstDirectory,
} from '#worker-image/engine/containers/tiff-in-memory.ts';

const HEADER = Buffer.from('II*\0\x08\0\0\0', 'latin1');

/** A page with a width inside its entry and a list of three numbers outside of it. */
const PAGE = writeTiff(
  HEADER,
  [
    { id: 256, type: 'short', values: [640] },
    { id: 273, type: 'long', values: [1, 2, 70_000] },
  ],
  Buffer.alloc(4),
);
/** Offset of the link to the next directory, and of fields of the second entry. */
const [LINK, COUNT, OFFSET] = [8 + 2 + 24, 8 + 2 + 12 + 4, 8 + 2 + 12 + 8];

function page(change: (bytes: Buffer) => unknown): Buffer {
  const bytes = Buffer.from(PAGE);
  change(bytes);
  return bytes;
}

/** Returns directories, each of which begins inside the one before. */
function overlapping(directories: number, entries: number): Buffer {
  const file = Buffer.alloc(HEADER.length + directories * 12 + 2 + entries * 12 + 4);
  HEADER.copy(file);
  for (let page = 0; page < directories; page += 1) {
    const at = HEADER.length + page * 12;
    file.writeUInt16LE(entries, at);
    file.writeUInt32LE(page + 1 < directories ? at + 12 : 0, at + 2 + entries * 12);
  }
  return file;
}

/** BigTIFF, big-endian: one directory with one entry of two LONG8 numbers, outside of it. */
const BIG = Buffer.from(
  [
    '4d4d002b00080000 0000000000000010',
    '0000000000000001 0111 0010 0000000000000002 0000000000000034 0000000000000000',
    '0000000000000005 0000000100000000',
  ]
    .join('')
    .replaceAll(' ', ''),
  'hex',
);

describe('readDirectories', () => {
  it('returns entries with the ranges of their values, which are numbers of the file', () => {
    const tiff = openTiff(PAGE);
    const [directory] = readDirectories(tiff);
    expect(directory?.entries.map(({ tag, values }) => [tag, values])).toEqual([
      [256, { start: 18, end: 20 }],
      [273, { start: 38, end: 50 }],
    ]);
    expect(directory?.entries.map((entry) => numbersOf(tiff, entry))).toEqual([[640], [1, 2, 70_000]]);
    expect([directory?.range, directory?.linkAt, directory?.next]).toEqual([{ start: 8, end: 38 }, LINK, 0]);
  });

  it('reads and writes the numbers of BigTIFF, in its byte order', () => {
    const tiff = openTiff(Buffer.from(BIG));
    const [entry] = readDirectories(tiff)[0]?.entries ?? [];
    expect(entry === undefined ? [] : numbersOf(tiff, entry)).toEqual([5, 2 ** 32]);
    tiff.writeNumber(2 ** 33, 52, 8);
    expect(tiff.number(52, 8)).toBe(2 ** 33);
  });

  it.each<readonly [string, Buffer, string]>([
    ['an empty file', Buffer.alloc(0), 'header'],
    ['no byte order', page((bytes) => bytes.write('XX')), 'header'],
    ['a first directory beyond the end', page((bytes) => bytes.writeUInt32LE(0xffff_fff0, 4)), 'directory'],
    ['more entries than bytes', page((bytes) => bytes.writeUInt16LE(0xffff, 8)), 'directory'],
    ['a truncated directory', PAGE.subarray(0, LINK + 3), 'directory'],
    ['values beyond the end', page((bytes) => bytes.writeUInt32LE(PAGE.length - 11, OFFSET)), 'tag 273'],
    ['more values than bytes', page((bytes) => bytes.writeUInt32LE(0xffff_ffff, COUNT)), 'tag 273'],
    ['a page that links to itself', page((bytes) => bytes.writeUInt32LE(8, LINK)), 'cycle'],
    ['pages that overlap', overlapping(10, 200), 'overlap'],
  ])('refuses %s', (_what, bytes, reason) => {
    expect(() => readDirectories(openTiff(bytes))).toThrow(expect.objectContaining({ code: 'processing_failed' }));
    expect(() => readDirectories(openTiff(bytes))).toThrow(reason);
  });
});

describe('readFirstDirectory', () => {
  it('returns the first page, whatever follows', () => {
    const tiff = openTiff(page((bytes) => bytes.writeUInt32LE(0xffff_fff0, LINK)));
    expect(readFirstDirectory(tiff)?.entries.map(({ tag }) => tag)).toEqual([256, 273]);
    expect(() => readDirectories(tiff)).toThrow('directory');
  });

  it('returns null for a structure without a page', () => {
    expect(readFirstDirectory(openTiff(page((bytes) => bytes.writeUInt32LE(0, 4))))).toBeNull();
  });
});
