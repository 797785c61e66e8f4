import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { outputOf } from '#test/fixtures/encoder-output.ts';
import { engineDeps } from '#test/fixtures/engine-work.ts';
import { encodeJpeg, jpegSettings } from '#worker-image/engine/image/encode/encode-jpeg.ts';
import { encoderQuality } from '#worker-image/engine/image/encode/quality-scale.ts';

describe('jpegSettings', () => {
  it.each([
    [94, 'photo', '4:2:0'],
    [95, 'photo', '4:4:4'],
    [10, 'graphic', '4:4:4'],
  ] as const)('of quality %d for a %s use chroma of %s', (quality, content, chroma) => {
    const settings = jpegSettings({ quality, content, encoders: encoderQuality(quality, content) });
    expect(settings.chromaSubsampling).toBe(chroma);
  });
});

describe('encodeJpeg', () => {
  it('writes a progressive JPEG, with subsampled chroma for an image without edges', async () => {
    const image = sharp({ create: { width: 40, height: 30, channels: 3, background: '#258' } });
    const output = await outputOf(image);
    await encodeJpeg(engineDeps(), output);
    const written = { format: 'jpeg', width: 40, height: 30, isProgressive: true, chromaSubsampling: '4:2:0' };
    expect(await sharp(output.path).metadata()).toMatchObject(written);
  });
});
