import { describe, expect, it } from 'vitest';
import { gifSettings } from '#worker-image/engine/image/encode/encode-gif.ts';

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
