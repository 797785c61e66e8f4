import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { parseAvif } from '#worker-image/engine/image/encode/parse-avif.ts';

const avif = (channels: 3 | 4): Promise<Buffer> =>
  sharp({ create: { width: 64, height: 48, channels, background: { r: 9, g: 99, b: 200, alpha: 0.5 } } })
    .withExif({ IFD0: { Make: 'Planted maker' } })
    .avif({ quality: 50 })
    .toBuffer();

describe('parseAvif', () => {
  it('returns the color image with its properties, and EXIF with its entry in the list of items', async () => {
    const { ftyp, layers, metadata } = parseAvif(await avif(3));
    expect(ftyp.toString('latin1', 4, 12)).toBe('ftypavif');
    expect(layers).toHaveLength(1);
    expect(layers[0]?.data.length).toBeGreaterThan(20);
    expect(layers[0]?.properties.map(({ type }) => type)).toEqual(expect.arrayContaining(['ispe', 'av1C', 'pixi']));
    expect(metadata.map(({ entry }) => entry.toString('latin1', 0, 4))).toEqual(['Exif']);
    expect(metadata[0]?.data.includes('Planted maker')).toBe(true);
  });

  it('returns transparency as the second layer', async () => {
    const { layers } = parseAvif(await avif(4));
    expect(layers.map(({ properties }) => properties.some(({ type }) => type === 'auxC'))).toEqual([false, true]);
  });

  it('throws for a file without a list of items, and for a truncated one', async () => {
    const file = await avif(3);
    expect(() => parseAvif(file.subarray(0, file.readUInt32BE(0)))).toThrow('meta');
    expect(() => parseAvif(file.subarray(0, -1))).toThrow('HEIF');
  });
});
