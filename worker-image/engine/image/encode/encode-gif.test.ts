import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { outputOf } from '#test/fixtures/encoder-output.ts';
import { engineDeps } from '#test/fixtures/engine-work.ts';
import { encodeGif, gifSettings } from '#worker-image/engine/image/encode/encode-gif.ts';

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

describe('encodeGif', () => {
  it('writes the colors of a flat image', async () => {
    const output = await outputOf(sharp({ create: { width: 9, height: 7, channels: 3, background: '#258' } }));
    await encodeGif(engineDeps(), output);
    const { data, info } = await sharp(output.path).removeAlpha().raw().toBuffer({ resolveWithObject: true });
    expect([info.width, info.height, ...data.subarray(0, 3)]).toEqual([9, 7, 0x22, 0x55, 0x88]);
  });
});
