import { describe, expect, it } from 'vitest';
import { parseOggPage } from '#worker-image/engine/containers/ogg.ts';

function page(flags: number, segments: readonly number[]): Buffer {
  const header = Buffer.alloc(27);
  header.write('OggS');
  header[5] = flags;
  header[26] = segments.length;
  return Buffer.concat([header, Buffer.from(segments), Buffer.alloc(segments.reduce((sum, size) => sum + size, 0))]);
}

describe('parseOggPage', () => {
  it('returns the range of the payload and the flags', () => {
    const bytes = Buffer.concat([page(2, [255, 3]), page(4, [])]);
    expect(parseOggPage(bytes, 0)).toEqual({ beginsStream: true, endsStream: false, body: 29, end: 287 });
    expect(parseOggPage(bytes, 287)).toEqual({ beginsStream: false, endsStream: true, body: 314, end: 314 });
  });

  it('returns an end beyond the buffer for a truncated page', () => {
    expect(parseOggPage(page(0, [200]).subarray(0, 50), 0)?.end).toBe(228);
  });

  it.each([
    ['no page begins there', page(2, []), 1],
    ['its header is truncated', page(2, []).subarray(0, 26), 0],
    ['the offset is beyond the buffer', page(2, []), 1000],
  ])('returns null when %s', (_what, bytes, at) => {
    expect(parseOggPage(bytes, at)).toBeNull();
  });
});
