import sharp, { type Sharp } from 'sharp';
import { describe, expect, it } from 'vitest';
import { outputOf } from '#test/fixtures/encoder-output.ts';
import { paletteErrorLimit, writePalettePng } from '#worker-image/engine/image/encode/palette.ts';

describe('paletteErrorLimit', () => {
  it('limits the error of a palette more strictly at higher quality', () => {
    expect(paletteErrorLimit(90)).toBeLessThan(paletteErrorLimit(75));
    expect(paletteErrorLimit(75)).toBeLessThan(paletteErrorLimit(30));
    expect(paletteErrorLimit(99)).toBeGreaterThan(0);
  });
});

const noise = { type: 'gaussian', mean: 128, sigma: 60 } as const;
const flat = (height: number): Sharp => sharp({ create: { width: 60, height, channels: 3, background: '#258' } });
const grain = (height: number): Sharp =>
  sharp({ create: { width: 200, height, channels: 3, background: '#888', noise } });

describe('writePalettePng', () => {
  it.each([
    ['one color', flat(40), true],
    ['a single row of one color', flat(1), true],
    ['noise', grain(150), false],
    ['a single row of noise', grain(1), true],
  ])('says whether 256 colors look like the input: for %s', async (_what, image, isInvisible) => {
    const { pipeline, quality, path } = await outputOf(image, { quality: 80 });
    const written = await writePalettePng({ pipeline, quality, path, content: 'graphic', compressionLevel: 0 });
    expect(written).toBe(isInvisible);
    expect(await sharp(path).metadata()).toMatchObject({ format: 'png', isPalette: true });
  });

  it.each([0, 1, 2, 3])('sees an error whose rows begin at %i', async (top) => {
    const page = sharp({ create: { width: 200, height: 44, channels: 3, background: '#fff' } });
    const band = await grain(40).png().toBuffer();
    const { pipeline, quality, path } = await outputOf(page.composite([{ input: band, left: 0, top }]), {
      quality: 80,
    });
    expect(await writePalettePng({ pipeline, quality, path, content: 'graphic', compressionLevel: 0 })).toBe(false);
  });
});
