import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { uncompressedTiffHeader } from '#worker-image/engine/image/loaders/uncompressed-tiff-header.ts';

describe('uncompressedTiffHeader', () => {
  it.each([
    [1, null],
    [3, null],
    [3, Buffer.alloc(200, 1)],
  ] as const)('precedes %d samples of 16 bits in a TIFF that libvips reads', async (samples, profile) => {
    const pixels = Buffer.from(Uint16Array.from({ length: 3 * 2 * samples }, (_, index) => index * 1000).buffer);
    const header = uncompressedTiffHeader({ width: 3, height: 2, samples, orientation: 6, profile });
    const image = sharp(Buffer.concat([header, pixels]));
    expect(await image.metadata()).toMatchObject({
      width: 3,
      height: 2,
      channels: samples,
      depth: 'ushort',
      orientation: 6,
      ...(profile !== null && { icc: profile }),
    });
    const raw = image.toColourspace(samples === 1 ? 'grey16' : 'rgb16').raw({ depth: 'ushort' });
    expect((await raw.toBuffer()).equals(pixels)).toBe(profile === null);
  });
});
