import { describe, expect, it } from 'vitest';
import { drawBmp } from '#test/fixtures/draw-bmp.ts';
import { BMP_PICTURE } from '#test/fixtures/make-image-fixtures.ts';
import { readBmpHeader } from '#worker-image/engine/image/loaders/bmp-header.ts';

const { width, height } = BMP_PICTURE;

function changed(variant: '8' | '24' | '32-alpha', offset: number, value: number): Buffer {
  const file = drawBmp(BMP_PICTURE, variant);
  file.writeInt32LE(value, offset);
  return file;
}

describe('readBmpHeader', () => {
  it.each([
    ['24', { bits: 24, compression: 'none', topDown: false }],
    ['top-down', { bits: 24, topDown: true }],
    ['os2', { bits: 24, palette: { entryBytes: 3 } }],
    ['rle4', { bits: 4, compression: 'rle4' }],
    ['16', { bits: 16, masks: { red: 0x7c00, green: 0x03e0, blue: 0x001f, alpha: 0 } }],
    ['16-565', { compression: 'masks', masks: { red: 0xf800, green: 0x07e0 } }],
    ['32-alpha', { compression: 'masks', masks: { alpha: 0xff000000 } }],
  ] as const)('reads the %s variant', (variant, facts) => {
    expect(readBmpHeader(drawBmp(BMP_PICTURE, variant))).toMatchObject({ width, height, ...facts });
  });

  it('limits the palette to the depth, and places the pixels after it', () => {
    const header = readBmpHeader(changed('8', 46, 0x7fff_ffff));
    expect(header.palette.count).toBe(256);
    expect(header.pixelOffset).toBe(header.palette.offset + 256 * 4);
  });

  it.each<readonly [string, Buffer]>([
    ['no bytes', Buffer.alloc(0)],
    ['a truncated header', drawBmp(BMP_PICTURE, '24').subarray(0, 53)],
    ['truncated masks', drawBmp(BMP_PICTURE, '16-565').subarray(0, 60)],
    ['a header of 0 bytes', changed('24', 14, 0)],
    ['a negative width', changed('24', 18, -1)],
    ['a height of 0', changed('24', 22, 0)],
    ['an unknown depth', changed('24', 28, 25)],
    ['an unknown compression', changed('24', 30, 5)],
  ])('refuses a file with %s', (_what, file) => {
    expect(() => readBmpHeader(file)).toThrow(expect.objectContaining({ code: 'processing_failed' }));
  });
});
