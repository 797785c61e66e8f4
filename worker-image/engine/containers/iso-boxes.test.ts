import { describe, expect, it } from 'vitest';
import { fileReaderOf } from '#test/fixtures/memory-file-reader.ts';
import { parseBoxes, readBoxesByPath, readTopBoxes } from '#worker-image/engine/containers/iso-boxes.ts';

function box(type: string, body: Buffer = Buffer.alloc(0), size = 8 + body.length): Buffer {
  const header = Buffer.alloc(8);
  header.writeUInt32BE(size);
  header.write(type, 4, 'latin1');
  return Buffer.concat([header, body]);
}

function longBox(type: string, body: Buffer, size: bigint): Buffer {
  const long = Buffer.alloc(8);
  long.writeBigUInt64BE(size);
  return box(type, Buffer.concat([long, body]), 1);
}

const FREE = box('free', Buffer.alloc(4));

describe('readTopBoxes', () => {
  it('returns boxes with short and long sizes, and one that extends to the end of the file', async () => {
    const bytes = Buffer.concat([FREE, longBox('mdat', Buffer.alloc(2), 18n), box('moov', Buffer.alloc(3), 0)]);
    expect(await readTopBoxes(fileReaderOf(bytes))).toEqual([
      { type: 'free', start: 0, body: 8, end: 12, isTruncated: false },
      { type: 'mdat', start: 12, body: 28, end: 30, isTruncated: false },
      { type: 'moov', start: 30, body: 38, end: 41, isTruncated: false },
    ]);
  });

  it.each([
    ['longer than the file', box('mdat', Buffer.alloc(4), 1000)],
    ['of 2 ** 63 bytes', longBox('mdat', Buffer.alloc(4), 2n ** 63n)],
  ])('ends a box %s with the file, as truncated', async (_what, bytes) => {
    const all = Buffer.concat([FREE, bytes]);
    expect((await readTopBoxes(fileReaderOf(all))).at(-1)).toMatchObject({ end: all.length, isTruncated: true });
  });

  it.each([
    ['smaller than its header', box('mdat', Buffer.alloc(4), 7)],
    ['of a long size smaller than its header', longBox('mdat', Buffer.alloc(4), 15n)],
    ['whose long size is truncated', box('mdat', Buffer.alloc(4), 1)],
    ['whose header is truncated', Buffer.from('\0\0\0\x10mda')],
  ])('stops before a box %s', async (_what, bytes) => {
    expect(await readTopBoxes(fileReaderOf(Buffer.concat([FREE, bytes])))).toHaveLength(1);
  });

  it('returns at most the given number of boxes', async () => {
    const bytes = Buffer.concat(Array.from({ length: 50 }, () => FREE));
    expect(await readTopBoxes(fileReaderOf(bytes), 20)).toHaveLength(20);
  });
});

describe('readBoxesByPath', () => {
  it('returns the boxes under all parents of the types, and skips version and flags of meta', async () => {
    const tracks = [box('trak', box('mdia', FREE)), box('trak', box('mdia', FREE))];
    const meta = box('meta', Buffer.concat([Buffer.alloc(4), FREE]));
    const file = fileReaderOf(Buffer.concat([box('moov', Buffer.concat(tracks)), meta]));
    expect(await readBoxesByPath(file, ['moov', 'trak', 'mdia', 'free'])).toHaveLength(2);
    expect(await readBoxesByPath(file, ['meta', 'free'])).toMatchObject([{ type: 'free' }]);
    expect(await readBoxesByPath(file, ['moov', 'free'])).toEqual([]);
  });

  it('does not read beyond the parent of a box that is longer than it', async () => {
    const file = fileReaderOf(Buffer.concat([box('moov', box('trak', FREE, 1000)), box('free', FREE)]));
    expect(await readBoxesByPath(file, ['moov', 'trak', 'free'])).toEqual([
      { type: 'free', start: 16, body: 24, end: 28, isTruncated: false },
    ]);
  });
});

describe('parseBoxes', () => {
  it('returns the boxes of a range that they fill', () => {
    const bytes = Buffer.concat([Buffer.alloc(3), FREE, FREE]);
    expect(parseBoxes(bytes, 3, bytes.length)).toMatchObject({ boxes: [{ start: 3 }, { start: 15 }], fault: null });
  });

  it.each([
    ['is longer than the range', box('mdat', Buffer.alloc(4), 13), 'a box is longer than its container'],
    ['has a long size beyond the range', longBox('mdat', Buffer.alloc(4), 99n), 'a box is longer than its container'],
    ['is smaller than its header', box('mdat', Buffer.alloc(4), 4), 'a box is longer than its container'],
    ['has a truncated long size', box('mdat', Buffer.alloc(4), 1), 'a box is truncated'],
  ])('returns the boxes before one that %s', (_what, bytes, fault) => {
    const all = Buffer.concat([FREE, bytes]);
    expect(parseBoxes(all, 0, all.length)).toMatchObject({ boxes: [{ type: 'free' }], fault });
  });
});
