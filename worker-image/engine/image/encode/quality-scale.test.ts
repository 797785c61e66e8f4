import { describe, expect, it } from 'vitest';
import {
  avifSettings,
  gifSettings,
  jpegSettings,
  webpSettings,
} from '#worker-image/engine/image/encode/encoder-settings.ts';
import { encoderQuality, paletteErrorLimit } from '#worker-image/engine/image/encode/quality-scale.ts';

describe('encoderQuality', () => {
  it.each([
    [75, 'photo', { jpg: 71, webp: 78, avif: 53, heic: 41 }],
    [75, 'graphic', { jpg: 77, webp: 57, avif: 38, heic: 42 }],
    [77, 'photo', { jpg: 73, webp: 80, avif: 55, heic: 43 }],
    [100, 'photo', { jpg: 100, webp: 100, avif: 100, heic: 90 }],
  ] as const)('returns the measured or interpolated qualities for %i of a %s', (q, content, numbers) => {
    expect(encoderQuality(q, content)).toEqual(numbers);
  });

  it.each(['photo', 'graphic'] as const)(
    'returns qualities of 1 to 100 that never fall as the quality of a %s rises',
    (content) => {
      let last = { jpg: 0, webp: 0, avif: 0, heic: 0 };
      for (let q = 0; q <= 100; q += 1) {
        const now = encoderQuality(q, content);
        for (const name of ['jpg', 'webp', 'avif', 'heic'] as const) {
          expect(now[name]).toBeGreaterThanOrEqual(Math.max(1, last[name]));
          expect(now[name]).toBeLessThanOrEqual(100);
        }
        last = now;
      }
    },
  );
});

describe('the settings of the encoders', () => {
  it.each([
    [75, 'photo', '4:2:0'],
    [75, 'graphic', '4:4:4'],
    [95, 'photo', '4:4:4'],
  ] as const)('of quality %i for a %s encode JPEG with chroma %s', (quality, content, chroma) => {
    expect(jpegSettings({ quality, content }).chromaSubsampling).toBe(chroma);
  });

  it('use sharp subsampling for a graphic in WebP', () => {
    expect(webpSettings({ quality: 75, content: 'graphic' }).smartSubsample).toBe(true);
    expect(webpSettings({ quality: 75, content: 'photo' }).smartSubsample).toBe(false);
  });

  it('reduce the effort of AVIF for larger images', () => {
    const efforts = [200_000, 12_000_000, 48_000_000, 100_000_000].map(
      (pixels) => avifSettings({ quality: 75, content: 'photo' }, { pixels, bitdepth: 8 }).effort,
    );
    expect(efforts).toEqual([4, 3, 2, 1]);
  });
});

describe('the scales of palette formats', () => {
  it('returns 256 colors and exact frames for a GIF of quality 100, and 8 colors at 0', () => {
    expect(gifSettings(100)).toMatchObject({ colours: 256, interFrameMaxError: 0 });
    expect(gifSettings(0).colours).toBe(8);
  });

  it('limits the error of a palette more strictly at higher quality', () => {
    expect(paletteErrorLimit(90)).toBeLessThan(paletteErrorLimit(75));
    expect(paletteErrorLimit(75)).toBeLessThan(paletteErrorLimit(30));
    expect(paletteErrorLimit(99)).toBeGreaterThan(0);
  });
});
