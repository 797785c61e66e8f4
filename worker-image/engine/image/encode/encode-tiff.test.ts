import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { outputOf, outputOfFile } from '#test/fixtures/encoder-output.ts';
import { engineDeps } from '#test/fixtures/engine-work.ts';
import { makePngChunk, PNG_SIGNATURE, readPngChunks } from '#worker-image/engine/containers/png-chunks.ts';
import { encodeTiff } from '#worker-image/engine/image/encode/encode-tiff.ts';

const image = sharp({ create: { width: 8, height: 6, channels: 3, background: '#258' } });

describe('encodeTiff', () => {
  it('keeps the resolution of the image', async () => {
    const output = await outputOf(image.clone().withMetadata({ density: 300 }));
    await encodeTiff(engineDeps(), output);
    expect((await sharp(output.path).metadata()).density).toBe(300);
  });

  it('writes 72 pixels per inch for an image without a resolution', async () => {
    const output = await outputOfFile('jpg', await image.clone().jpeg().toBuffer());
    const { density: _none, ...metadata } = output.source.metadata;
    await encodeTiff(engineDeps(), { ...output, source: { ...output.source, metadata } });
    expect((await sharp(output.path).metadata()).density).toBe(72);
  });

  it('writes an image whose resolution is higher than a TIFF can have', async () => {
    const [header, ...others] = readPngChunks(await image.clone().png().toBuffer()) ?? [];
    const highest = makePngChunk('pHYs', Buffer.from('7fffffff7fffffff01', 'hex'));
    const rest = others.filter(({ type }) => type !== 'pHYs').map(({ whole }) => whole);
    const output = await outputOfFile('png', Buffer.concat([PNG_SIGNATURE, header!.whole, highest, ...rest]));
    await encodeTiff(engineDeps(), output);
    expect((await sharp(output.path).metadata()).width).toBe(8);
  });
});
