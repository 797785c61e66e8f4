import { describe, expect, it } from 'vitest';
import { BMP_VARIANTS, drawBmp } from '#test/fixtures/draw-bmp.ts';
import { BMP_PICTURE } from '#test/fixtures/make-image-fixtures.ts';
import { readBmp } from '#worker-image/engine/image/bmp-reader.ts';
import { writeBmp } from '#worker-image/engine/image/bmp-writer.ts';

const { width, height, palette, at } = BMP_PICTURE;

function wanted(channels: 3 | 4): Buffer {
  const pixels: number[] = [];
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) pixels.push(...palette[at(x, y)]!, ...(channels === 4 ? [255] : []));
  }
  return Buffer.from(pixels);
}

/** As many colours as 8 bits can name, which need not be counted. */
function fullPalette(): (typeof palette)[number][] {
  return Array.from({ length: 256 }, (_, index) => palette[index] ?? [0, 0, 0]);
}

describe('readBmp', () => {
  it.each(BMP_VARIANTS)('reads the %s variant', (variant) => {
    const picture = readBmp(drawBmp(BMP_PICTURE, variant));
    expect(picture).toMatchObject({ width, height, channels: variant === '32-alpha' ? 4 : 3 });
    expect(picture.data.equals(wanted(picture.channels))).toBe(true);
  });

  it.each(BMP_VARIANTS)('refuses the %s variant when it is cut off', (variant) => {
    const whole = drawBmp(BMP_PICTURE, variant);
    for (const length of [10, 20, 60, Math.floor(whole.length * 0.7)]) {
      expect(() => readBmp(whole.subarray(0, length))).toThrow(expect.objectContaining({ code: 'processing_failed' }));
    }
  });

  it.each([16, 24, 36])('reads a header of OS/2 that ends after %i bytes', (headerBytes) => {
    const whole = drawBmp({ ...BMP_PICTURE, palette: fullPalette() }, '8');
    const file = Buffer.concat([whole.subarray(0, 14 + headerBytes), whole.subarray(14 + 40)]);
    file.writeUInt32LE(headerBytes, 14);
    file.writeUInt32LE(file.readUInt32LE(10) - 40 + headerBytes, 10);
    expect(readBmp(file).data.equals(wanted(3))).toBe(true);
  });

  it.each(['1', '8', 'rle8'] as const)('reads the %s variant whose pixels are said to start too early', (variant) => {
    const file = drawBmp(BMP_PICTURE, variant);
    file.writeUInt32LE(palette.length, 46);
    file.writeUInt32LE(54, 10);
    expect(readBmp(file).data.equals(wanted(3))).toBe(true);
  });

  it('refuses a claimed size that the file cannot hold before it allocates anything', () => {
    const file = drawBmp(BMP_PICTURE, '24');
    file.writeInt32LE(2_000_000_000, 18);
    expect(() => readBmp(file)).toThrow(expect.objectContaining({ code: 'processing_failed' }));
  });

  it.each([
    ['depth', 28, 5],
    ['compression', 30, 4],
    ['width', 18, 0],
    ['header', 14, 13],
  ])('refuses an unknown %s', (_what, offset, value) => {
    const file = drawBmp(BMP_PICTURE, '24');
    file.writeInt32LE(value, offset);
    expect(() => readBmp(file)).toThrow(expect.objectContaining({ code: 'processing_failed' }));
  });
});

describe('writeBmp', () => {
  it('writes what readBmp reads', () => {
    const data = wanted(3);
    const file = writeBmp({ width, height, data, density: 72 });
    expect(readBmp(file).data.equals(data)).toBe(true);
    expect(file.readInt32LE(38)).toBe(2835);
  });
});
