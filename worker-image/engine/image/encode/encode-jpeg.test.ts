import { readFile, stat } from 'node:fs/promises';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { outputOf, outputOfFile } from '#test/fixtures/encoder-output.ts';
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

/** Symbols with which the standard table of AC luminance begins (ITU-T T.81, table K.5). */
const STANDARD_HUFFMAN = Buffer.from('0102030004110512213141061351610722711432', 'hex');

/** Returns noise as a JPEG of about 4 bits per pixel; blurred, its result has few bits. */
async function noisyJpeg({ blur }: { readonly blur: number | false }): Promise<Buffer> {
  const noise = { type: 'gaussian', mean: 128, sigma: 30 } as const;
  const jpeg = await sharp({ create: { width: 640, height: 480, channels: 3, background: '#888', noise } })
    .blur(blur)
    .jpeg({ quality: 90, chromaSubsampling: '4:2:0' })
    .toBuffer();
  return Buffer.concat([jpeg, Buffer.alloc(Math.max(0, 640 * 480 * 0.3 - jpeg.length))]);
}

describe('encodeJpeg', () => {
  it.each([
    ['the standard Huffman tables for a detailed photo', { blur: false, quality: 75 }, true],
    ['tables of its own for a detailed photo of low quality', { blur: false, quality: 60 }, false],
    ['tables of its own for a smooth photo, however large its file is', { blur: 20, quality: 75 }, false],
  ] as const)('uses %s', async (_what, { blur, quality }, isStandard) => {
    const output = await outputOfFile('jpg', await noisyJpeg({ blur }), { quality });
    await encodeJpeg(engineDeps(), output);
    expect((await readFile(output.path)).includes(STANDARD_HUFFMAN)).toBe(isStandard);
    expect(await sharp(output.path).metadata()).toMatchObject({ width: 640, height: 480, chromaSubsampling: '4:2:0' });
  });

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
