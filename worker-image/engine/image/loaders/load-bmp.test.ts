import { describe, expect, it } from 'vitest';
import { BMP_VARIANTS, drawBmp } from '#test/fixtures/draw-bmp.ts';
import { BMP_PICTURE } from '#test/fixtures/make-image-fixtures.ts';
import { readBmpHeader } from '#worker-image/engine/image/loaders/bmp-header.ts';
import { decodeBmp } from '#worker-image/engine/image/loaders/load-bmp.ts';

const { width, height, palette, at } = BMP_PICTURE;

function wanted(channels: 3 | 4): Buffer {
  const pixels: number[] = [];
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) pixels.push(...palette[at(x, y)]!, ...(channels === 4 ? [255] : []));
  }
  return Buffer.from(pixels);
}

/** Returns 256 colors, for which the header may omit their number. */
function fullPalette(): (typeof palette)[number][] {
  return Array.from({ length: 256 }, (_, index) => palette[index] ?? [0, 0, 0]);
}

describe('readBmpHeader', () => {
  it.each([
    ['DEBM', true],
    ['KNIL', true],
    ['BGRs', false],
  ])('returns whether a header with the color space %s has a profile: %j', (colorSpace, hasProfile) => {
    const plain = drawBmp(BMP_PICTURE, '24');
    const file = Buffer.concat([plain.subarray(0, 14 + 40), Buffer.alloc(84), plain.subarray(14 + 40)]);
    file.writeUInt32LE(124, 14);
    file.writeUInt32LE(file.readUInt32LE(10) + 84, 10);
    file.write(colorSpace, 70, 'latin1');
    expect(readBmpHeader(file)).toMatchObject({ hasProfile });
    expect(decodeBmp(file).data.equals(wanted(3))).toBe(true);
  });
});

describe('decodeBmp', () => {
  it.each(BMP_VARIANTS)('reads the %s variant', (variant) => {
    const picture = decodeBmp(drawBmp(BMP_PICTURE, variant));
    expect(picture).toMatchObject({ width, height, channels: variant === '32-alpha' ? 4 : 3 });
    expect(picture.data.equals(wanted(picture.channels))).toBe(true);
  });

  it('ignores opacity that is zero in every pixel', () => {
    const file = drawBmp(BMP_PICTURE, '32-alpha');
    for (let at = file.readUInt32LE(10) + 3; at < file.length; at += 4) file[at] = 0;
    const picture = decodeBmp(file);
    expect(picture.channels).toBe(3);
    expect(picture.data.equals(wanted(3))).toBe(true);
  });

  it.each([1, 2, 3])('reads the other pixels at their positions when the last %i bytes are missing', (missing) => {
    for (const variant of ['32', '32-alpha'] as const) {
      const { data, channels } = decodeBmp(drawBmp(BMP_PICTURE, variant).subarray(0, -missing));
      // The last pixel of the file is at the end of the first row of the image.
      const lost = (width - 1) * channels;
      expect(data.equals(wanted(channels).fill(0, lost, lost + channels))).toBe(true);
    }
  });

  it.each(BMP_VARIANTS)('refuses a truncated file of the %s variant', (variant) => {
    const whole = drawBmp(BMP_PICTURE, variant);
    for (const length of [10, 20, 60, Math.floor(whole.length * 0.7)]) {
      expect(() => decodeBmp(whole.subarray(0, length))).toThrow(
        expect.objectContaining({ code: 'processing_failed' }),
      );
    }
  });

  it.each([16, 24, 36])('reads an OS/2 header of %i bytes', (headerBytes) => {
    const whole = drawBmp({ ...BMP_PICTURE, palette: fullPalette() }, '8');
    const file = Buffer.concat([whole.subarray(0, 14 + headerBytes), whole.subarray(14 + 40)]);
    file.writeUInt32LE(headerBytes, 14);
    file.writeUInt32LE(file.readUInt32LE(10) - 40 + headerBytes, 10);
    expect(decodeBmp(file).data.equals(wanted(3))).toBe(true);
  });

  it.each(['1', '8', 'rle8'] as const)('reads the %s variant whose declared pixel offset is too low', (variant) => {
    const file = drawBmp(BMP_PICTURE, variant);
    file.writeUInt32LE(palette.length, 46);
    file.writeUInt32LE(54, 10);
    expect(decodeBmp(file).data.equals(wanted(3))).toBe(true);
  });

  it('refuses a declared size that exceeds the file before it allocates memory', () => {
    const file = drawBmp(BMP_PICTURE, '24');
    file.writeInt32LE(2_000_000_000, 18);
    expect(() => decodeBmp(file)).toThrow(expect.objectContaining({ code: 'processing_failed' }));
  });

  it.each([
    ['depth', 28, 5],
    ['compression', 30, 4],
    ['width', 18, 0],
    ['header', 14, 13],
  ])('refuses an unknown %s', (_what, offset, value) => {
    const file = drawBmp(BMP_PICTURE, '24');
    file.writeInt32LE(value, offset);
    expect(() => decodeBmp(file)).toThrow(expect.objectContaining({ code: 'processing_failed' }));
  });
});
