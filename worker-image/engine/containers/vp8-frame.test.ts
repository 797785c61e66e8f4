import sharp, { type Sharp, type WebpOptions } from 'sharp';
import { describe, expect, it } from 'vitest';
import { isWholeLossyWebp } from '#worker-image/engine/containers/vp8-frame.ts';

function image(background = '#258'): Sharp {
  const noise = { type: 'gaussian', mean: 128, sigma: 30 } as const;
  return sharp({ create: { width: 200, height: 100, channels: 4, background } }).composite([
    { input: { create: { width: 90, height: 100, channels: 3, background: '#888', noise } }, left: 10, top: 0 },
  ]);
}

const lossy = await image().removeAlpha().webp({ quality: 75 }).toBuffer();

const FILES: readonly (readonly [what: string, file: Buffer, isWhole: boolean])[] = [
  ['a lossy image', lossy, true],
  [
    'one with a profile and EXIF',
    await image()
      .removeAlpha()
      .withIccProfile('p3')
      .withExif({ IFD0: { Artist: 'Ada' } })
      .webp()
      .toBuffer(),
    true,
  ],
  ['a lossless one', await webp({ lossless: true }), false],
  ['a transparent one', await image('#2586').webp().toBuffer(), false],
  [
    'an animation',
    await sharp([lossy, await webp({ quality: 20 })], { join: { animated: true } })
      .webp()
      .toBuffer(),
    false,
  ],
  ['an image of another format', await image().jpeg().toBuffer(), false],
  ['nothing', Buffer.alloc(0), false],
];

describe('isWholeLossyWebp', () => {
  it.each(FILES)('for %s is %j', (_what, file, isWhole) => {
    expect(isWholeLossyWebp(file)).toBe(isWhole);
  });

  it('is false for every truncated file, also when its headers have been adapted', () => {
    for (let length = 0; length < lossy.length; length += 1) {
      expect(isWholeLossyWebp(lossy.subarray(0, length))).toBe(false);
      if (length < 30) continue;
      const adapted = Buffer.from(lossy.subarray(0, length));
      adapted.writeUInt32LE(length - 8, 4);
      expect(isWholeLossyWebp(adapted)).toBe(false);
    }
  });

  it('is false when the first partition is longer than its frame', () => {
    const damaged = Buffer.from(lossy);
    const frame = damaged.indexOf('VP8 ') + 8;
    damaged.writeUIntLE((damaged.readUIntLE(frame, 3) & 31) | (lossy.length << 5), frame, 3);
    expect(isWholeLossyWebp(damaged)).toBe(false);
  });
});

function webp(options: WebpOptions): Promise<Buffer> {
  return image().removeAlpha().webp(options).toBuffer();
}
