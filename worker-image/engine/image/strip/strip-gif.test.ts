import { describe, expect, it } from 'vitest';
import { stripGif } from '#worker-image/engine/image/strip/strip-gif.ts';

const bytes = (hex: string): Buffer => Buffer.from(hex.replaceAll(' ', ''), 'hex');
/** A screen of 1 × 1 pixel with a palette of two colors, and one frame. */
const SCREEN = Buffer.concat([Buffer.from('GIF89a'), bytes('0100 0100 80 00 00 000000 ffffff')]);
const FRAME = bytes('2c 0000 0000 0100 0100 00 02 02 4401 00');
const DELAY = bytes('21 f9 04 00 0a00 00 00');
const LOOP = Buffer.concat([bytes('21 ff 0b'), Buffer.from('NETSCAPE2.0'), bytes('03 01 0000 00')]);
const XMP = Buffer.concat([bytes('21 ff 0b'), Buffer.from('XMP DataXMP'), bytes('03 616263 00')]);
const COMMENT = bytes('21 fe 02 6869 00');
const END = bytes('3b');

const gif = (...blocks: readonly Buffer[]): Buffer => Buffer.concat([SCREEN, ...blocks]);

describe('stripGif', () => {
  it('removes comments and XMP, and keeps frames, delays and loop', () => {
    const stripped = stripGif(gif(COMMENT, LOOP, XMP, DELAY, FRAME, COMMENT, END));
    expect(stripped.toString('hex')).toBe(gif(LOOP, DELAY, FRAME, END).toString('hex'));
  });

  it('removes padding and comments between all other blocks', () => {
    const padding = Buffer.alloc(1000);
    const parts = Array.from({ length: 1000 }, () => [padding, DELAY, COMMENT, FRAME, padding]).flat();
    const kept = Array.from({ length: 1000 }, () => [DELAY, FRAME]).flat();
    expect(stripGif(gif(...parts, END)).equals(gif(...kept, END))).toBe(true);
  });

  it('keeps a frame with a palette of its own', () => {
    const frame = bytes('2c 0000 0000 0100 0100 80 112233 445566 02 02 4401 00');
    expect(stripGif(gif(frame, END)).equals(gif(frame, END))).toBe(true);
  });

  it('adds a missing end marker, and drops data after it', () => {
    expect(stripGif(gif(FRAME)).equals(gif(FRAME, END))).toBe(true);
    expect(stripGif(gif(FRAME, END, COMMENT)).equals(gif(FRAME, END))).toBe(true);
  });

  it.each<readonly [string, Buffer]>([
    ['no bytes', Buffer.alloc(0)],
    ['a truncated palette', SCREEN.subarray(0, -1)],
    ['a truncated frame', gif(FRAME.subarray(0, -1))],
    ['a frame without data', gif(FRAME.subarray(0, 5))],
    ['a sub-block that claims 255 bytes', gif(bytes('21 fe ff 6869 00'))],
    ['a byte that begins no block', gif(FRAME, bytes('99'), END)],
  ])('refuses a file with %s', (_what, file) => {
    expect(() => stripGif(file)).toThrow(expect.objectContaining({ code: 'processing_failed' }));
  });
});
