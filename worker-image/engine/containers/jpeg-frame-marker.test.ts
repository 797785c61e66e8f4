import { describe, expect, it } from 'vitest';
import { jpegFrameMarker } from '#worker-image/engine/containers/jpeg-frame-marker.ts';

const bytes = (hex: string): Buffer => Buffer.from(hex.replaceAll(' ', ''), 'hex');

describe('jpegFrameMarker', () => {
  it.each<readonly [string, string, number | null]>([
    ['a baseline image', 'ffd8 ffe0 0004 abcd ffdb 0003 00 ffc0 0008', 0xc0],
    ['a progressive image', 'ffd8 ffc4 0003 00 ffc2 0008', 0xc2],
    ['an image with arithmetic codes', 'ffd8 ffcc 0004 0010 ffc9 0008', 0xc9],
    ['fill bytes before a marker', 'ffd8 ffff ffdb 0003 00 ff ffc1 0008', 0xc1],
    ['a marker inside of a segment', 'ffd8 ffe1 0006 ffc0 0000 ffc9 0008', 0xc9],
    ['no frame before the scan', 'ffd8 ffda 0003 00 ffc0 0008', null],
    ['a truncated file', 'ffd8 ff', null],
    ['a segment of length 0 at the end', 'ffd8 ffdb 0000', null],
  ])('returns for %s the marker of its frame', (_what, hex, marker) => {
    expect(jpegFrameMarker(bytes(hex))).toBe(marker);
  });
});
