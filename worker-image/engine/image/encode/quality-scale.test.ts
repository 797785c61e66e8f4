import sharp, { type Sharp } from 'sharp';
import { describe, expect, it } from 'vitest';
import { classifyImage, encoderQuality, gifLoss } from '#worker-image/engine/image/encode/quality-scale.ts';

describe('encoderQuality', () => {
  it.each([
    [75, 'photo', { jpg: 61, webp: 78, avif: 54, heic: 41 }],
    [75, 'graphic', { jpg: 77, webp: 57, avif: 38, heic: 42 }],
    [77, 'photo', { jpg: 64, webp: 80, avif: 56, heic: 43 }],
    [100, 'photo', { jpg: 100, webp: 100, avif: 100, heic: 90 }],
  ] as const)('returns the measured or interpolated qualities for %i of a %s', (q, content, numbers) => {
    expect(encoderQuality(q, content)).toEqual(numbers);
  });

  it.each(['photo', 'graphic'] as const)(
    'returns qualities of 1 to 100 that never fall as the quality of a %s rises',
    (content) => {
      let last = { jpg: 0, webp: 0, avif: 0, heic: 0 };
      for (let q = 0; q <= 100; q += 1) {
        const now = encoderQuality(q, content);
        for (const name of ['jpg', 'webp', 'avif', 'heic'] as const) {
          expect(now[name]).toBeGreaterThanOrEqual(Math.max(1, last[name]));
          expect(now[name]).toBeLessThanOrEqual(100);
        }
        last = now;
      }
    },
  );
});

const noise = { type: 'gaussian', mean: 128, sigma: 30 } as const;
const grain = (): Sharp => sharp({ create: { width: 160, height: 120, channels: 3, background: '#888', noise } });
const page = (background: string): Sharp => sharp({ create: { width: 400, height: 300, channels: 4, background } });
/** Bars as wide as strokes of letters. */
const strokes = (color: string) =>
  Array.from({ length: 30 }, (_, at) => ({
    input: { create: { width: 3, height: 60, channels: 3 as const, background: color } },
    left: 20 + at * 12,
    top: 20 + (at % 4) * 60,
  }));

describe('gifLoss', () => {
  it('falls from 200 to none as the quality rises', () => {
    const losses = Array.from({ length: 101 }, (_, quality) => gifLoss(quality));
    expect([losses[0], losses[50], losses[75], losses[100]]).toEqual([200, 43, 19, 0]);
    expect(losses.toSorted((a, b) => b - a)).toEqual(losses);
  });
});

describe('classifyImage', () => {
  it.each<[string, Promise<Buffer>, string]>([
    ['coloured strokes on white', page('#ffffff').composite(strokes('#e02020')).png().toBuffer(), 'graphic'],
    ['strokes on nothing', page('#00000000').composite(strokes('#2040e0')).png().toBuffer(), 'graphic'],
    ['grain', grain().png().toBuffer(), 'photo'],
    ['a photo on studio white', onWhite(), 'photo'],
    ['an even area', page('#3366cc').png().toBuffer(), 'photo'],
    ['strokes whose colours were halved', lossy('4:2:0'), 'photo'],
    ['strokes in a JPEG of full chroma', lossy('4:4:4'), 'graphic'],
  ])('classifies %s as a %s', async (_what, bytes, content) => {
    const file = await bytes;
    const image = { metadata: await sharp(file).metadata(), start: () => sharp(file) };
    expect(await classifyImage(image)).toBe(content);
  });
});

/** Returns soft grain in the middle of a white image. */
async function onWhite(): Promise<Buffer> {
  const middle = await grain().blur(2).png().toBuffer();
  return page('#ffffff')
    .composite([{ input: middle, left: 120, top: 90 }])
    .png()
    .toBuffer();
}

function lossy(chromaSubsampling: string): Promise<Buffer> {
  return page('#ffffff').composite(strokes('#000000')).flatten().jpeg({ quality: 95, chromaSubsampling }).toBuffer();
}
