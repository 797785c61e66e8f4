import { describe, expect, it } from 'vitest';
import { writeGif, type WrittenGif } from '#test/fixtures/write-gif.ts';
import { compareGifs, readGif } from '#worker-image/engine/image/encode/compare-gifs.ts';

const GRAYS = Array.from({ length: 256 }, (_, i) => i.toString(16).padStart(2, '0').repeat(3));
const frame = { width: 9, height: 9, delay: 5, pixel: (x: number, y: number) => 10 * x + y };
const GIF: WrittenGif = { width: 9, height: 9, loop: 0, colors: GRAYS, frames: [frame, { ...frame, pixel: () => 99 }] };

function compared(over: Partial<WrittenGif>, maxDifference = 0, signal = new AbortController().signal): Promise<void> {
  const [before, after] = [GIF, { ...GIF, ...over }].map((gif) => readGif(writeGif(gif), gif.frames.length));
  return compareGifs(before!, after!, { maxDifference, signal });
}

describe('compareGifs', () => {
  it('accepts the same frames in other blocks', async () => {
    const [first] = GIF.frames;
    await expect(
      compared({
        frames: [
          { ...first!, isInterlaced: true },
          { ...frame, colors: GRAYS, pixel: () => 99 },
        ],
      }),
    ).resolves.toBeUndefined();
  });

  it('accepts samples that differ by no more than the limit', async () => {
    const frames = [frame, { ...frame, pixel: () => 103 }];
    await expect(compared({ frames }, 4)).resolves.toBeUndefined();
    await expect(compared({ frames }, 3)).rejects.toThrow('shows something else');
  });

  it.each<readonly [string, Partial<WrittenGif>]>([
    ['a size', { width: 10 }],
    ['a loop', { loop: 1 }],
    ['a delay', { frames: [{ ...frame, delay: 6 }, GIF.frames[1]!] }],
    ['a missing frame', { frames: [frame] }],
    ['a pixel', { frames: [{ ...frame, pixel: (x, y) => 10 * x + y + (x + y === 16 ? 1 : 0) }, GIF.frames[1]!] }],
    ['transparency', { frames: [frame, { ...frame, transparent: 99, disposal: 2, pixel: () => 99 }] }],
  ])('rejects %s that differs', async (_what, over) => {
    await expect(compared(over)).rejects.toThrow('GIF');
  });

  it('rejects transparency that differs, whatever the limit of other samples', async () => {
    const frames = [{ ...frame, transparent: 0, pixel: () => 0 }, GIF.frames[1]!];
    await expect(compared({ frames }, 200)).rejects.toThrow('shows something else');
  });

  it('ends with the reason of an abort', async () => {
    await expect(compared({}, 0, AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough');
  });
});
