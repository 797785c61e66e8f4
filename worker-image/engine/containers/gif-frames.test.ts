import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { photoLike } from '#test/fixtures/photo-like.ts';
import {
  COMMENT_BLOCK,
  TEXT_BLOCK,
  writeGif,
  type WrittenGif,
  type WrittenGifFrame,
} from '#test/fixtures/write-gif.ts';
import { gifBlocks } from '#worker-image/engine/containers/gif-blocks.ts';
import { readGifFrames, shownFrames } from '#worker-image/engine/containers/gif-frames.ts';

/** Byte of an image that its height begins at. */
const HEIGHT_AT = 7;
const MAX_FRAMES = 3;
const COLORS = ['ff0000', '00ff00', '0000ff', 'ffffff'];
const LETTERS: Readonly<Record<string, string>> = {
  ff0000ff: 'r',
  '00ff00ff': 'g',
  '0000ffff': 'b',
  ffffffff: 'w',
  '00000000': '.',
};

const gifOf = (frames: readonly WrittenGifFrame[], more: Partial<WrittenGif> = {}): Buffer =>
  writeGif({ width: 3, height: 2, colors: COLORS, frames, ...more });
const whole = (index: number, more: Partial<WrittenGifFrame> = {}): WrittenGifFrame => ({
  width: 3,
  height: 2,
  pixel: () => index,
  ...more,
});
/** A frame of one pixel in the second row. */
const dot = (index: number, more: Partial<WrittenGifFrame> = {}): WrittenGifFrame => ({
  left: 1,
  top: 1,
  width: 1,
  height: 1,
  pixel: () => index,
  ...more,
});

function letters(shown: Buffer): string {
  return Array.from(
    { length: shown.length / 4 },
    (_, i) => LETTERS[shown.toString('hex', 4 * i, 4 * i + 4)] ?? '?',
  ).join('');
}

/** Returns each frame as letters, a row after the other. */
function framesOf(file: Buffer): string[] {
  const found: string[] = [];
  for (const shown of shownFrames(file, readGifFrames(file, MAX_FRAMES))) found.push(letters(shown));
  return found;
}

describe('readGifFrames', () => {
  it('reads size, loop, delays, disposals and places', () => {
    const frames = [whole(0, { delay: 7, disposal: 2 }), dot(1, { isInterlaced: true, isControlled: false })];
    expect(readGifFrames(gifOf(frames, { loop: 5, blocks: [COMMENT_BLOCK] }), MAX_FRAMES)).toMatchObject({
      width: 3,
      height: 2,
      loop: 5,
      frames: [
        { left: 0, top: 0, width: 3, height: 2, delay: 7, disposal: 2, isInterlaced: false },
        { left: 1, top: 1, width: 1, height: 1, delay: 0, disposal: 0, isInterlaced: true },
      ],
    });
  });

  it('reads that no loop is named, and an endless one', () => {
    expect(readGifFrames(gifOf([whole(0)]), MAX_FRAMES).loop).toBeNull();
    expect(readGifFrames(gifOf([whole(0)], { loop: 0 }), MAX_FRAMES).loop).toBe(0);
  });

  it.each([
    ['no frame', gifOf([])],
    ['more frames than expected', gifOf([0, 1, 2, 3].map((index) => whole(index)))],
    ['a text block', gifOf([whole(0)], { blocks: [TEXT_BLOCK] })],
    ['a frame beyond the screen', gifOf([whole(0), dot(1, { left: 3 })])],
    ['a disposal of 4', gifOf([whole(0, { disposal: 4 })])],
    ['no colors', writeGif({ width: 3, height: 2, frames: [whole(0)] })],
    [
      'a graphic control of another size',
      gifOf([whole(0, { isControlled: false })], { blocks: [Buffer.from('21f90300000000', 'hex')] }),
    ],
    ['a truncated frame', gifOf([whole(0)]).subarray(0, -4)],
  ])('refuses a file with %s', (_what, file) => {
    expect(() => readGifFrames(file, MAX_FRAMES)).toThrow('The GIF');
  });
});

describe('shownFrames', () => {
  it.each<readonly [string, readonly WrittenGifFrame[], readonly string[]]>([
    ['over the frame before', [whole(0), dot(1)], ['rrrrrr', 'rrrrgr']],
    ['with the frame before where it is transparent', [whole(0), whole(2, { transparent: 2 })], ['rrrrrr', 'rrrrrr']],
    ['without the frame before when that is cleared', [whole(0, { disposal: 2 }), dot(1)], ['rrrrrr', '....g.']],
    [
      'over what was before a frame that is undone',
      [whole(0), dot(1, { disposal: 3 }), dot(2, { left: 0 })],
      ['rrrrrr', 'rrrrgr', 'rrrbrr'],
    ],
    ['on an empty screen', [dot(1)], ['....g.']],
    ['with its own colors', [whole(0, { colors: ['0000ff', '000000'] })], ['bbbbbb']],
    ['without colors that its table lacks', [whole(2, { colors: ['0000ff', '000000'] })], ['??????']],
  ])('yields a frame %s', (_how, frames, shown) => {
    expect(framesOf(gifOf(frames))).toEqual(shown);
  });

  it('yields interlaced rows in their order', () => {
    const frame = { width: 1, height: 11, isInterlaced: true, pixel: (_x: number, y: number) => y % 4 };
    expect(framesOf(gifOf([frame], { width: 1, height: 11 }))).toEqual(['rgbwrgbwrgb']);
  });

  it('refuses pixels that end early', () => {
    const short = gifOf([whole(0, { height: 1 })]);
    const image = [...gifBlocks(short)].find(({ kind }) => kind === 'image');
    short.writeUInt16LE(2, (image?.start ?? 0) + HEIGHT_AT);
    expect(() => framesOf(short)).toThrow('The GIF');
  });

  it('yields the pixels that libvips decodes, with long codes', async () => {
    const size = { width: 320, height: 240 };
    const raw = { ...size, channels: 3 } as const;
    const file = await sharp(photoLike(size), { raw }).gif().toBuffer();
    const [shown] = shownFrames(file, readGifFrames(file, MAX_FRAMES));
    expect(shown?.equals(await sharp(file).ensureAlpha().raw().toBuffer())).toBe(true);
  });
});
