import { deflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { sharp } from '#worker-image/engine/image/libvips-picture.ts';

/** Files that sharp's libraries can open unless their loaders are blocked. */
const BLOCKED: readonly (readonly [what: string, bytes: Buffer])[] = [
  [
    'an SVG',
    Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>'),
  ],
  ['a packed SVG', deflateSync(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'))],
  ['a PPM', Buffer.from('P6\n1 1\n255\nabc', 'latin1')],
  ['a Radiance image', Buffer.from('#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 1 +X 1\nabcd', 'latin1')],
  ['a CSV matrix', Buffer.from('1,2\n3,4\n')],
];

describe('sharp', () => {
  it.each(BLOCKED)('does not open %s', async (_what, bytes) => {
    await expect(sharp(bytes).metadata()).rejects.toThrow(/unsupported image format|blocked/);
  });

  it.each(['jpeg', 'png', 'webp', 'gif', 'tiff', 'avif'] as const)('opens %s', async (format) => {
    const bytes = await sharp({ create: { width: 8, height: 8, channels: 3, background: '#123' } })
      .toFormat(format)
      .toBuffer();
    expect(await sharp(bytes).metadata()).toMatchObject({ width: 8, height: 8 });
  });
});
