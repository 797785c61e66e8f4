import sharp, { type JpegOptions, type Sharp } from 'sharp';
import { describe, expect, it } from 'vitest';
import { fitHuffmanTables } from '#worker-image/engine/image/encode/fit-huffman-tables.ts';

interface Noise {
  readonly size: readonly [width: number, height: number];
  /** Standard deviation of the noise; the higher, the more bits. */
  readonly sigma: number;
  readonly change?: (picture: Sharp) => Sharp;
}

/** Returns the noise as a JPEG with the standard tables, and as libjpeg writes it with tables of its own. */
async function encode(
  { size: [width, height], sigma, change }: Noise,
  options: JpegOptions,
): Promise<[Buffer, Buffer]> {
  const noise = { type: 'gaussian', mean: 128, sigma } as const;
  const png = await sharp({ create: { width, height, channels: 3, background: '#777', noise } })
    .png()
    .toBuffer();
  const jpeg = (optimiseCoding: boolean): Promise<Buffer> => {
    const picture = change === undefined ? sharp(png) : change(sharp(png));
    return picture.jpeg({ chromaSubsampling: '4:2:0', ...options, optimiseCoding }).toBuffer();
  };
  return [await jpeg(false), await jpeg(true)];
}

describe('fitHuffmanTables', () => {
  it.each<readonly [string, Noise, JpegOptions]>([
    ['subsampled chroma', { size: [333, 251], sigma: 40 }, { quality: 60 }],
    ['full chroma', { size: [333, 251], sigma: 40 }, { quality: 60, chromaSubsampling: '4:4:4' }],
    ['gray', { size: [333, 251], sigma: 40, change: (picture) => picture.toColourspace('b-w') }, { quality: 60 }],
    ['CMYK', { size: [64, 64], sigma: 40, change: (picture) => picture.toColourspace('cmyk') }, { quality: 60 }],
    ['codes of 16 bits', { size: [600, 400], sigma: 120 }, { quality: 100 }],
    ['one color', { size: [1, 1], sigma: 0 }, { quality: 1 }],
    ['few bits', { size: [900, 600], sigma: 1 }, { quality: 3 }],
    ['another table of quantization', { size: [500, 400], sigma: 30 }, { quality: 61, quantisationTable: 5 }],
    ['a profile', { size: [64, 64], sigma: 30, change: (picture) => picture.withIccProfile('p3') }, {}],
  ])('writes the file that libjpeg writes with tables of its own: %s', async (_what, noise, options) => {
    const [standard, own] = await encode(noise, options);
    expect(fitHuffmanTables(standard)?.equals(own)).toBe(true);
  });

  it('returns null for a progressive file', async () => {
    const [progressive] = await encode({ size: [64, 64], sigma: 30 }, { progressive: true });
    expect(fitHuffmanTables(progressive)).toBe(null);
  });

  it('returns null for a damaged file, or the pixels that it shows', async () => {
    const [jpeg] = await encode({ size: [160, 120], sigma: 30 }, { quality: 50 });
    const scanAt = jpeg.indexOf(Buffer.from([0xff, 0xda])) + 14;
    const isSame = async (file: Buffer): Promise<boolean> => {
      const fitted = fitHuffmanTables(file);
      if (fitted === null) return true;
      const [before, after] = await Promise.all([file, fitted].map((one) => sharp(one).raw().toBuffer()));
      return before?.equals(after ?? Buffer.alloc(0)) === true;
    };
    for (let at = scanAt; at < jpeg.length - 2; at += 7) {
      const flipped = Buffer.from(jpeg);
      flipped[at] = (flipped[at] ?? 0) ^ 0x10;
      expect(await isSame(flipped)).toBe(true);
      expect(fitHuffmanTables(Buffer.concat([jpeg.subarray(0, at), jpeg.subarray(-2)]))).toBe(null);
    }
  });
});
