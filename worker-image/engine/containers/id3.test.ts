import { describe, expect, it } from 'vitest';
import { fileReaderOf } from '#test/fixtures/memory-file-reader.ts';
import { endOfId3Tags, id3Size } from '#worker-image/engine/containers/id3.ts';

function tag(size: number, flags = 0): Buffer {
  const header = Buffer.from([0x49, 0x44, 0x33, 4, 0, flags, 0, 0, size >> 7, size & 0x7f]);
  return Buffer.concat([header, Buffer.alloc(size + (flags === 0 ? 0 : 10))]);
}

describe('endOfId3Tags', () => {
  it.each([
    ['no tag', Buffer.from('\xff\xfb', 'latin1'), 0],
    ['one tag', tag(300), 310],
    ['a tag with a footer', tag(20, 0x10), 40],
    ['two tags', Buffer.concat([tag(5), tag(6)]), 31],
    ['a tag that is longer than the file', tag(300).subarray(0, 20), 310],
    ['a truncated header', tag(300).subarray(0, 9), 0],
    ['more tags than are skipped', Buffer.concat(Array.from({ length: 20 }, () => tag(0))), 80],
  ])('returns the offset behind %s', async (_what, bytes, end) => {
    expect(await endOfId3Tags(fileReaderOf(bytes))).toBe(end);
  });
});

describe('id3Size', () => {
  it('reads seven bits per byte', () => expect(id3Size(Buffer.from([0, 0, 0x82, 1]))).toBe(257));
});
