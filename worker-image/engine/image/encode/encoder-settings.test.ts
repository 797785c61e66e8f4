import { describe, expect, it } from 'vitest';
import {
  avifSettings,
  exactWebpSettings,
  gifSettings,
  jpegSettings,
} from '#worker-image/engine/image/encode/encoder-settings.ts';

describe('jpegSettings', () => {
  it.each([
    [94, 'photo', '4:2:0'],
    [95, 'photo', '4:4:4'],
    [10, 'graphic', '4:4:4'],
  ] as const)('of quality %d for a %s use chroma of %s', (quality, content, chroma) => {
    expect(jpegSettings({ quality, content }).chromaSubsampling).toBe(chroma);
  });
});

describe('avifSettings', () => {
  it.each([
    [1_000_000, 4],
    [1_000_001, 3],
    [24_000_001, 2],
    [60_000_001, 1],
  ])('for %d pixels use effort %d', (pixels, effort) => {
    expect(avifSettings({ quality: 75, content: 'photo' }, { pixels, bitdepth: 10 })).toMatchObject({
      effort,
      bitdepth: 10,
    });
  });
});

describe('exactWebpSettings', () => {
  it('are lossless at quality 100 only', () => {
    expect(exactWebpSettings({ quality: 100, content: 'graphic' })).toMatchObject({ lossless: true });
    expect(exactWebpSettings({ quality: 99, content: 'graphic' })).toMatchObject({ nearLossless: true });
  });
});

describe('gifSettings', () => {
  it.each([
    [100, 256, 0, true],
    [90, 223, 2, true],
    [89, 215, 2, false],
    [0, 8, 17, false],
  ])('of quality %d use %d colors, an error of %d, the palette of the file: %j', (quality, colours, error, reuse) => {
    expect(gifSettings(quality)).toMatchObject({ colours, interFrameMaxError: error, reuse });
  });
});
