import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { gif } from '#test/hostile/forge-image.ts';
import { isDefaultScreen, isDistrusted } from '#worker-image/engine/image/gif-logical-screen.ts';

describe('isDefaultScreen', () => {
  it.each([
    [640, 480, true],
    [480, 640, false],
    [2049, 10, false],
  ])('returns for %i × %i: %j', (width, height, expected) => {
    expect(isDefaultScreen({ width, height })).toBe(expected);
  });
});

describe('isDistrusted', () => {
  it.each([
    [640, 480],
    [1600, 1200],
    [2049, 10],
    [10, 2049],
    [2048, 2048],
    [640, 481],
  ])('returns for %i × %i whether libvips reads the frame of one pixel instead', async (width, height) => {
    const found = await sharp(gif({ width, height }, 1), { limitInputPixels: false }).metadata();
    expect(isDistrusted({ width, height })).toBe(found.width === 1 && found.height === 1);
  });
});
