import { describe, expect, it } from 'vitest';
import { COMMENT_BLOCK, TEXT_BLOCK, writeGif, XMP_BLOCK } from '#test/fixtures/write-gif.ts';
import { colorTableBytes, endOfScreen, gifBlocks } from '#worker-image/engine/containers/gif-blocks.ts';

const FRAME = { width: 2, height: 2, pixel: () => 1 };
const COLORS = ['000000', 'ffffff'];

describe('gifBlocks', () => {
  it('yields the blocks by kind, without gaps, up to the trailer', () => {
    const blocks = [COMMENT_BLOCK, TEXT_BLOCK, XMP_BLOCK, Buffer.from([0])];
    const file = writeGif({ width: 2, height: 2, colors: COLORS, blocks, frames: [FRAME] });
    const found = [...gifBlocks(file)];
    expect(found.map(({ kind }) => kind)).toEqual(['comment', 'text', 'application', 'padding', 'control', 'image']);
    expect(found.slice(1).map(({ start }) => start)).toEqual(found.slice(0, -1).map(({ end }) => end));
    expect([found[0]?.start, found.at(-1)?.end]).toEqual([endOfScreen(file), file.length - 1]);
  });

  it('yields adjacent padding as one block', () => {
    const file = writeGif({ width: 2, height: 2, colors: COLORS, blocks: [Buffer.alloc(1000)], frames: [FRAME] });
    const [padding, ...others] = gifBlocks(file);
    expect(padding).toEqual({ kind: 'padding', start: endOfScreen(file), end: endOfScreen(file) + 1000 });
    expect(others.map(({ kind }) => kind)).toEqual(['control', 'image']);
  });

  it('refuses a frame that is truncated', () => {
    const file = writeGif({ width: 2, height: 2, colors: COLORS, frames: [FRAME] });
    expect(() => [...gifBlocks(file.subarray(0, -3))]).toThrow('a block is truncated');
  });
});

describe('endOfScreen', () => {
  it('refuses a truncated header', () => {
    expect(() => endOfScreen(Buffer.from('GIF89a'))).toThrow('its header is truncated');
  });
});

describe('colorTableBytes', () => {
  it.each([
    [0x07, 0],
    [0x80, 6],
    [0x87, 768],
  ])('returns for the flags %i: %i', (flags, bytes) => {
    expect(colorTableBytes(flags)).toBe(bytes);
  });
});
