import { stat } from 'node:fs/promises';
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
  it.each([
    ['sequential JPEG with subsampled chroma at 94', 94, { isProgressive: false, chromaSubsampling: '4:2:0' }],
    ['progressive JPEG with full chroma at 95', 95, { isProgressive: true, chromaSubsampling: '4:4:4' }],
  ])('writes an image without edges as a %s', async (_what, quality, how) => {
    const image = sharp({ create: { width: 40, height: 30, channels: 3, background: '#258' } });
    const output = await outputOf(image, { quality });
    await encodeJpeg(engineDeps(), output);
    expect(await sharp(output.path).metadata()).toMatchObject({ format: 'jpeg', width: 40, height: 30, ...how });
  });

  it('writes grain in at most 1.1 of the bytes of mozjpeg at the same number of the scale', async () => {
    const noise = { type: 'gaussian', mean: 128, sigma: 30 } as const;
    const image = sharp({ create: { width: 640, height: 480, channels: 3, background: '#888', noise } }).blur(1.5);
    const output = await outputOf(image);
    await encodeJpeg(engineDeps(), output);
    const mozjpeg = await output.pipeline().jpeg({ quality: 71, mozjpeg: true }).toBuffer();
    expect((await stat(output.path)).size).toBeLessThan(1.1 * mozjpeg.length);
  });
});
