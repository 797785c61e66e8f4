import sharp, { type Sharp } from 'sharp';
import { describe, expect, it } from 'vitest';
import { classifyImage } from '#worker-image/engine/image/encode/classify-image.ts';

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
