import { describe, expect, it } from 'vitest';
import { writeTiff } from '#test/fixtures/write-tiff.ts';
import { makeOrientationTiff, readOrientation } from '#worker-image/engine/image/strip/orientation-exif.ts';

const HEADER = Buffer.from('II*\0\x08\0\0\0', 'latin1');

/** A little-endian structure with the orientation behind another tag. */
function littleEndian(orientation: number): Buffer {
  const tags = [
    { id: 0x10f, type: 'ascii', values: [65, 0] },
    { id: 0x112, type: 'short', values: [orientation] },
  ] as const;
  return writeTiff(HEADER, tags, Buffer.alloc(0));
}

function changed(change: (bytes: Buffer) => unknown): Buffer {
  const bytes = makeOrientationTiff(6);
  change(bytes);
  return bytes;
}

describe('readOrientation', () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8])('returns orientation %d in either byte order', (orientation) => {
    expect(readOrientation(makeOrientationTiff(orientation))).toBe(orientation);
    expect(readOrientation(littleEndian(orientation))).toBe(orientation);
  });

  it.each<readonly [string, Buffer]>([
    ['no bytes', Buffer.alloc(0)],
    ['no byte order', changed((bytes) => bytes.write('XX'))],
    ['orientation 0', makeOrientationTiff(0)],
    ['orientation 9', makeOrientationTiff(9)],
    ['a directory beyond the end', changed((bytes) => bytes.writeUInt32BE(0xffff_fff0, 4))],
    ['a truncated entry', makeOrientationTiff(6).subarray(0, 21)],
    ['another tag', changed((bytes) => bytes.writeUInt16BE(0x10f, 10))],
    ['no entries', changed((bytes) => bytes.writeUInt16BE(0, 8))],
  ])('returns 1 for %s', (_what, bytes) => {
    expect(readOrientation(bytes)).toBe(1);
  });

  it('reads the entries that are there when the directory claims more', () => {
    expect(readOrientation(changed((bytes) => bytes.writeUInt16BE(0xffff, 8)))).toBe(6);
  });
});
