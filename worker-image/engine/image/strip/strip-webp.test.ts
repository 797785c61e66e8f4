import { describe, expect, it } from 'vitest';
import { makeOrientationTiff } from '#worker-image/engine/image/strip/orientation-exif.ts';
import { stripWebp } from '#worker-image/engine/image/strip/strip-webp.ts';

function chunk(id: string, body: Buffer | string): Buffer {
  const data = Buffer.from(body as string, 'latin1');
  const head = Buffer.alloc(8);
  head.write(id, 'latin1');
  head.writeUInt32LE(data.length, 4);
  return Buffer.concat([head, data, Buffer.alloc(data.length % 2)]);
}

const webp = (...chunks: readonly Buffer[]): Buffer => chunk('RIFF', Buffer.concat([Buffer.from('WEBP'), ...chunks]));
/** Flags of the extended header: EXIF 0x08, XMP 0x04, alpha 0x10. */
const header = (flags: number): Buffer => chunk('VP8X', Buffer.from([flags, 0, 0, 0, 0, 0, 0, 0, 0, 0]));
const exif = (orientation: number, prefix = ''): Buffer =>
  chunk('EXIF', Buffer.concat([Buffer.from(prefix, 'latin1'), makeOrientationTiff(orientation)]));
const PIXELS = chunk('VP8 ', 'odd');

describe('stripWebp', () => {
  it('removes EXIF, XMP and unknown chunks, and their flags', () => {
    const file = webp(header(0x1c), chunk('ICCP', 'icc'), PIXELS, exif(1), chunk('XMP ', 'x'), chunk('ABCD', 'y'));
    expect(stripWebp(file).equals(webp(header(0x10), chunk('ICCP', 'icc'), PIXELS))).toBe(true);
  });

  it.each(['', 'Exif\0\0'])('keeps the orientation of EXIF that begins with %j', (prefix) => {
    expect(stripWebp(webp(header(0x0c), PIXELS, exif(6, prefix))).equals(webp(header(0x08), PIXELS, exif(6)))).toBe(
      true,
    );
  });

  it('removes unknown chunks inside the frames of an animation', () => {
    const frame = (...parts: readonly Buffer[]): Buffer =>
      chunk('ANMF', Buffer.concat([Buffer.alloc(16, 1), ...parts]));
    const file = webp(header(0x02), chunk('ANIM', 'loop'), frame(PIXELS, chunk('ABCD', 'y')));
    expect(stripWebp(file).equals(webp(header(0x02), chunk('ANIM', 'loop'), frame(PIXELS)))).toBe(true);
  });

  it('drops data behind the end of the file by its own size', () => {
    expect(stripWebp(Buffer.concat([webp(PIXELS), chunk('ABCD', 'y')])).equals(webp(PIXELS))).toBe(true);
  });

  it.each<readonly [string, Buffer]>([
    ['no bytes', Buffer.alloc(0)],
    ['no image', webp(chunk('ICCP', 'icc'))],
    ['a truncated image', webp(PIXELS).subarray(0, -2)],
    ['a frame without an image', webp(header(2), chunk('ANMF', Buffer.alloc(16)))],
    ['a frame shorter than its header', webp(PIXELS, chunk('ANMF', 'short'))],
  ])('refuses a file with %s', (_what, file) => {
    expect(() => stripWebp(file)).toThrow(expect.objectContaining({ code: 'processing_failed' }));
  });
});
