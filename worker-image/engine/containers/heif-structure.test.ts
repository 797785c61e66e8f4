import { describe, expect, it } from 'vitest';
import { fileReaderOf } from '#test/fixtures/memory-file-reader.ts';
import {
  countItems,
  countSequenceFrames,
  isLimitedRangeGray,
  verifyItemLocations,
} from '#worker-image/engine/containers/heif-structure.ts';

function box(type: string, ...content: readonly (Buffer | string)[]): Buffer {
  const body = Buffer.concat(content.map((part) => (typeof part === 'string' ? Buffer.from(part, 'hex') : part)));
  const header = Buffer.alloc(8);
  header.writeUInt32BE(8 + body.length);
  header.write(type, 4, 'latin1');
  return Buffer.concat([header, body]);
}

const meta = (...content: readonly Buffer[]): Buffer => box('meta', '00000000', ...content);

describe('countItems', () => {
  it.each([
    ['a list of version 0', meta(box('iinf', '000000000102', '00000000')), 258],
    ['a list of version 1', meta(box('iinf', '0100000000010000')), 65_536],
    ['a truncated list', meta(box('iinf', '00')), 0],
    ['a file without a list', meta(), 0],
  ])('counts %s', async (_what, bytes, count) => {
    expect(await countItems(fileReaderOf(bytes))).toBe(count);
  });
});

describe('verifyItemLocations', () => {
  const one = '0001000000010000000000000000';

  it('accepts one extent of each item', async () => {
    await expect(
      verifyItemLocations(fileReaderOf(meta(box('iloc', '0000000044000001', one)))),
    ).resolves.toBeUndefined();
  });

  it.each([
    ['no table', meta(), 'no table'],
    [
      'a second table without widths',
      meta(box('iloc', '0000000044000001', one), box('iloc', '0000000000000001', one)),
      'no width',
    ],
    ['more extents than its table has bytes', meta(box('iloc', '0000000044000001', one.slice(0, 14))), 'truncated'],
  ])('refuses a file with %s', async (_what, bytes, reason) => {
    await expect(verifyItemLocations(fileReaderOf(bytes))).rejects.toMatchObject({
      code: 'processing_failed',
      message: expect.stringContaining(reason),
    });
  });
});

describe('countSequenceFrames', () => {
  const track = (stsz: Buffer): Buffer => box('moov', box('trak', box('mdia', box('minf', box('stbl', stsz)))));
  it.each([
    ['24 samples', track(box('stsz', '00000000', '00000000', '00000018')), 24],
    ['a truncated table', track(box('stsz', '00000000')), 0],
    ['no track', meta(), 0],
  ])('counts the frames of a file with %s', async (_what, bytes, frames) => {
    expect(await countSequenceFrames(fileReaderOf(bytes))).toBe(frames);
  });
});

describe('isLimitedRangeGray', () => {
  const image = (coding: string, range: string): Buffer =>
    meta(box('iprp', box('ipco', box('av1C', coding), box('colr', Buffer.from('nclx'), '000100020003', range))));
  const bare = (coding: string): Buffer => meta(box('iprp', box('ipco', box('av1C', coding))));
  it.each([
    ['monochrome, limited range', image('810010', '00'), true],
    ['monochrome, full range', image('810010', '80'), false],
    ['color, limited range', image('810000', '00'), false],
    ['no properties', meta(), false],
    ['monochrome, limited range in the bit stream alone', bare('81051c000a07196a659e3fca20'), true],
    ['monochrome, no range at all', bare('81051c00'), false],
    [
      'monochrome, the range in the container and another in the bit stream',
      image('81051c000a07196a659e3fca20', '80'),
      false,
    ],
  ])('decides on an image with %s', async (_what, bytes, expected) => {
    expect(await isLimitedRangeGray(fileReaderOf(bytes))).toBe(expected);
  });
});
