import { describe, expect, it } from 'vitest';
import { encoderQuality, gifSettings, paletteErrorLimit } from '#worker-image/engine/image/image-quality.ts';

describe('encoderQuality', () => {
  it.each([
    [50, { jpg: 50, webp: 57, avif: 46, heic: 37 }],
    [75, { jpg: 75, webp: 82, avif: 60, heic: 47 }],
    [90, { jpg: 90, webp: 94, avif: 82, heic: 61 }],
  ])('gives the measured numbers for %i', (q, numbers) => {
    expect(encoderQuality(q)).toEqual(numbers);
  });

  it('never falls as the quality rises, and stays within 1 to 100', () => {
    let last = { jpg: 0, webp: 0, avif: 0, heic: 0 };
    for (let q = 0; q <= 100; q += 1) {
      const now = encoderQuality(q);
      for (const name of ['jpg', 'webp', 'avif', 'heic'] as const) {
        expect(now[name]).toBeGreaterThanOrEqual(Math.max(1, last[name]));
        expect(now[name]).toBeLessThanOrEqual(100);
      }
      last = now;
    }
  });
});

describe('the scales of palette formats', () => {
  it('gives GIF all colours and exact frames at 100, few at 0', () => {
    expect(gifSettings(100)).toEqual({ colours: 256, interFrameMaxError: 0 });
    expect(gifSettings(0).colours).toBe(8);
  });

  it('allows a palette less error the higher the quality', () => {
    expect(paletteErrorLimit(90)).toBeLessThan(paletteErrorLimit(75));
    expect(paletteErrorLimit(75)).toBeLessThan(paletteErrorLimit(30));
    expect(paletteErrorLimit(99)).toBeGreaterThan(0);
  });
});
