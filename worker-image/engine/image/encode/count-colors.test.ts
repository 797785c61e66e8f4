import { describe, expect, it } from 'vitest';
import { countColors, pixelWords } from '#worker-image/engine/image/encode/count-colors.ts';

/** Returns RGBA samples of pixels that are given as numbers, opacity first. */
function samplesOf(...pixels: readonly number[]): Buffer {
  return Buffer.from(pixels.flatMap((pixel) => [(pixel >>> 16) & 255, (pixel >>> 8) & 255, pixel & 255, pixel >>> 24]));
}

describe('countColors', () => {
  it('counts each color and knows the color of each pixel', () => {
    const counted = countColors(samplesOf(0xff0000ff, 0xff0000ff, 0xff00ff00, 0xff0000ff));
    expect(counted?.counts).toEqual(Uint32Array.of(3, 1));
    expect(counted?.pixels).toEqual(Uint16Array.of(0, 0, 1, 0));
    expect(counted?.colors).toEqual(pixelWords(samplesOf(0xff0000ff, 0xff00ff00)));
  });

  it('counts fully transparent pixels as one color', () => {
    const counted = countColors(samplesOf(0x00123456, 0x00abcdef, 0x01abcdef));
    expect(counted?.counts).toEqual(Uint32Array.of(2, 1));
    expect(counted?.colors[0]).toBe(0);
  });

  it('reads samples that are not aligned in memory', () => {
    const samples = samplesOf(0xff0000ff, 0xff00ff00);
    const shifted = Buffer.concat([Buffer.from([7]), samples]).subarray(1);
    expect(countColors(shifted)).toEqual(countColors(samples));
  });

  it.each([
    [65_536, 65_536],
    [65_537, undefined],
  ])('of %i colors counts %j', (colors, counted) => {
    const samples = samplesOf(...Array.from({ length: colors }, (_, color) => (0xff000000 | color) >>> 0));
    expect(countColors(samples)?.counts.length).toBe(counted);
  });
});
