import sharp from 'sharp';
import { expect, it } from 'vitest';
import { resizedSize, resizeImage, type Resize } from '#worker-image/engine/image/resize-image.ts';

const jpeg = await sharp({ create: { width: 3000, height: 1500, channels: 3, background: '#408040' } })
  .jpeg()
  .toBuffer();
const box = { width: 100, height: 100 };

// Promise, Direct endpoints: Formats and resizing of images
it.each<[NonNullable<Resize>, { width: number; height: number }]>([
  [
    { mode: 'height', ...box },
    { width: 200, height: 100 },
  ],
  [
    { mode: 'width', ...box },
    { width: 100, height: 50 },
  ],
  [
    { mode: 'fit', ...box },
    { width: 100, height: 50 },
  ],
  [
    { mode: 'fill', ...box },
    { width: 100, height: 100 },
  ],
  [
    { mode: 'height', width: 100, height: 333 },
    { width: 666, height: 333 },
  ],
  [
    { mode: 'width', width: 777, height: 100 },
    { width: 777, height: 389 },
  ],
  [
    { mode: 'height', width: 100, height: 5000 },
    { width: 3000, height: 1500 },
  ],
])('a JPEG of 3000 × 1500 pixels resized by %j has the nearest whole pixels %j', async (resize, size) => {
  const input = { width: 3000, height: 1500 };
  expect(resizedSize(input, resize)).toEqual(size);
  const { info } = await resizeImage(sharp(jpeg), input, resize).toBuffer({ resolveWithObject: true });
  expect({ width: info.width, height: info.height }).toEqual(size);
});
