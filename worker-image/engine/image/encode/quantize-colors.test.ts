import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countColors, type ColorCounts } from '#worker-image/engine/image/encode/count-colors.ts';
import { quantizeColors } from '#worker-image/engine/image/encode/quantize-colors.ts';

function countWords(words: Uint32Array): ColorCounts {
  const counted = countColors(Buffer.from(words.buffer));
  if (counted === null) throw new Error('too many colors');
  return counted;
}

/** Returns the mean squared error per premultiplied sample. */
function errorOf({ colors, counts }: ColorCounts, palette: Uint32Array, entries: Uint8Array): number {
  let sum = 0;
  let pixels = 0;
  colors.forEach((color, at) => {
    const entry = palette[entries[at] ?? 0] ?? 0;
    const [alpha, other] = [color >>> 24, entry >>> 24];
    const samples = [0, 8, 16].map(
      (shift) => (((color >>> shift) & 255) * alpha - ((entry >>> shift) & 255) * other) / 255,
    );
    const count = counts[at] ?? 0;
    sum += count * [alpha - other, ...samples].reduce((all, difference) => all + difference ** 2, 0);
    pixels += count;
  });
  return sum / (4 * pixels);
}

const images = fc.uint32Array({ minLength: 1, maxLength: 600 });

describe('quantizeColors', () => {
  it('returns at most 256 entries and their error, for random pixels of any opacity', () => {
    fc.assert(
      fc.property(images, fc.double({ min: 0, max: 500, noNaN: true }), (words, limit) => {
        const counted = countWords(words);
        const { colors, entries, error } = quantizeColors(counted, limit);
        expect(colors.length).toBeLessThanOrEqual(256);
        expect(entries).toHaveLength(counted.colors.length);
        expect(Math.max(...entries)).toBeLessThan(colors.length);
        expect(error).toBeCloseTo(errorOf(counted, colors, entries), 1);
      }),
    );
  });

  it.each([1, 2, 32])('keeps %i colors, whatever the limit', (size) => {
    const counted = countWords(Uint32Array.from({ length: size }, (_, at) => (0xff000000 | (at * 1000)) >>> 0));
    const { colors, entries, error } = quantizeColors(counted, 500);
    expect(Uint32Array.from(entries, (entry) => colors[entry] ?? 0)).toEqual(counted.colors);
    expect(error).toBe(0);
  });

  it('keeps 256 colors where no error is allowed', () => {
    const counted = countWords(Uint32Array.from({ length: 256 }, (_, gray) => (0xff000000 | (gray * 0x10101)) >>> 0));
    const { colors, entries, error } = quantizeColors(counted, 0);
    expect(Uint32Array.from(entries, (entry) => colors[entry] ?? 0)).toEqual(counted.colors);
    expect(error).toBe(0);
  });

  it('uses fewer entries for a larger limit', () => {
    const counted = countWords(Uint32Array.from({ length: 5000 }, (_, at) => (0xff000000 | (at * 3001)) >>> 0));
    const sizes = [1, 1000, 100_000].map((limit) => quantizeColors(counted, limit).colors.length);
    expect(sizes).toEqual(sizes.toSorted((one, other) => other - one));
    expect(sizes[2]).toBeLessThan(sizes[0] ?? 0);
  });

  it('keeps a background as it is', () => {
    const background = 0xfff3f4f5;
    const noise = Uint32Array.from({ length: 1000 }, (_, at) => (0xff000000 | (at * 4999)) >>> 0);
    const counted = countWords(Uint32Array.of(...new Uint32Array(50_000).fill(background), ...noise));
    const { colors } = quantizeColors(counted, 100);
    expect(colors.includes(background)).toBe(true);
  });
});
