import { describe, expect, it } from 'vitest';
import { decodeGifPixels, makePixelTarget } from '#worker-image/engine/containers/gif-pixels.ts';

/** Returns the data of an image: code size and one sub-block of codes of three bits. */
function dataOf(codes: readonly number[], width = 3): Buffer {
  const bytes = Buffer.alloc(Math.ceil((codes.length * width) / 8));
  codes.forEach((code, at) => {
    for (let bit = 0; bit < width; bit += 1) {
      const to = at * width + bit;
      bytes[to >> 3] = (bytes[to >> 3] ?? 0) | (((code >> bit) & 1) << (to & 7));
    }
  });
  return Buffer.concat([Buffer.from([2, bytes.length]), bytes, Buffer.from([0])]);
}

function decode(data: Buffer, size: number): number[] {
  const pixels = makePixelTarget(size);
  decodeGifPixels(data, 0, pixels, size);
  return [...pixels.subarray(0, size)];
}

const [CLEAR, END] = [4, 5];

describe('decodeGifPixels', () => {
  it('decodes codes of pixels', () => {
    expect(decode(dataOf([CLEAR, 1, 2, CLEAR, 3, END]), 3)).toEqual([1, 2, 3]);
  });

  it('decodes a code that is defined by itself', () => {
    expect(decode(dataOf([CLEAR, 1, 6, END]), 3)).toEqual([1, 1, 1]);
  });

  it('skips what follows the last pixel', () => {
    expect(decode(dataOf([CLEAR, 1, 6, 3]), 2)).toEqual([1, 1]);
  });

  it.each([
    ['an end before the last pixel', dataOf([CLEAR, 1, END])],
    ['a code that was not defined', dataOf([CLEAR, 1, 7])],
    ['an undefined first code', dataOf([CLEAR, 6])],
    ['no data', Buffer.from([2, 0])],
    ['a code size of 12', Buffer.from([12, 1, 0, 0])],
    ['a code size of 1', Buffer.from([1, 1, 0, 0])],
  ])('refuses %s', (_what, data) => {
    expect(() => decode(data, 9)).toThrow('The GIF');
  });
});
