import { describe, expect, it } from 'vitest';
import { layTiles, withExifDimensions } from '#worker-image/engine/image/encode/avif-grid.ts';

/** An EXIF item of a HEIF: offset of the TIFF structure, then a directory that links to one with both dimensions. */
function item(type: 'short' | 'long'): Buffer {
  const value = type === 'short' ? '0003 00000001 00070000' : '0004 00000001 00000007';
  const text = `00000000 4d4d002a00000008 0001 8769 0004 00000001 0000001a 00000000 0002 a002${value} a003${value} 00000000`;
  return Buffer.from(text.replaceAll(' ', ''), 'hex');
}

describe('withExifDimensions', () => {
  it.each([
    ['short', 2],
    ['long', 4],
  ] as const)('writes width and height into tags of the type %s, in a copy', (type, bytes) => {
    const original = item(type);
    const before = Buffer.from(original);
    const changed = withExifDimensions(original, { width: 640, height: 480 });
    const values = [4 + 26 + 2 + 8, 4 + 26 + 2 + 12 + 8].map((at) => changed.readUIntBE(at, bytes));
    expect(values).toEqual([640, 480]);
    expect(original.equals(before)).toBe(true);
  });

  it('returns an equal copy of an item without these tags', () => {
    const bare = Buffer.from('000000004d4d002a00000008000101120003000000010006000000000000', 'hex');
    expect(withExifDimensions(bare, { width: 640, height: 480 }).equals(bare)).toBe(true);
  });

  it('refuses a directory outside of the item', () => {
    const damaged = item('long');
    damaged.writeUInt32BE(0xffff_fff0, 4 + 8 + 2 + 8);
    expect(() => withExifDimensions(damaged, { width: 640, height: 480 })).toThrow('TIFF');
  });
});

describe('layTiles', () => {
  it.each([
    [[2048, 64], { columns: 1, rows: 1, tileWidth: 2048, tileHeight: 64 }],
    [[2049, 100], { columns: 2, rows: 1, tileWidth: 1088, tileHeight: 128 }],
    [[10_000, 8000], { columns: 5, rows: 4, tileWidth: 2048, tileHeight: 2048 }],
  ] as const)('covers %j pixels with equal tiles', ([width, height], layout) => {
    expect(layTiles(width, height)).toEqual({ width, height, ...layout });
  });
});
