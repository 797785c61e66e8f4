import { describe, expect, it } from 'vitest';
import { writeGif, type WrittenGif } from '#test/fixtures/write-gif.ts';
import { compareGifs, decodeAhead, readGif, type ReadGif } from '#worker-image/engine/image/encode/compare-gifs.ts';

const GRAYS = Array.from({ length: 256 }, (_, i) => i.toString(16).padStart(2, '0').repeat(3));
const frame = { width: 9, height: 9, delay: 5, pixel: (x: number, y: number) => 10 * x + y };
const GIF: WrittenGif = { width: 9, height: 9, loop: 0, colors: GRAYS, frames: [frame, { ...frame, pixel: () => 99 }] };

async function compared(
  over: Partial<WrittenGif>,
  maxDifference = 0,
  signal = new AbortController().signal,
): Promise<void> {
  const [before, after] = [GIF, { ...GIF, ...over }].map((gif) => readGif(writeGif(gif), gif.frames.length));
  const shown = await decodeAhead(before!, new AbortController().signal);
  return compareGifs(before!, after!, { shown, maxDifference, signal });
}

/** A GIF of three frames, of which two fit into what is decoded ahead. */
function largeGif(): WrittenGif {
  const size = { width: 2048, height: 1600 };
  const frames = [1, 2, 3].map((color) => ({ ...size, delay: 5, pixel: () => color }));
  return { ...size, loop: 0, colors: GRAYS, frames };
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

  it('compares frames beyond those that were decoded ahead', async () => {
    const gif = largeGif();
    const changed = { ...gif, frames: gif.frames.with(2, { ...gif.frames[0]!, pixel: () => 4 }) };
    const [before, same, other] = [gif, gif, changed].map((one) => readGif(writeGif(one), 3));
    const { signal } = new AbortController();
    const compareWith = async (after: ReadGif) =>
      compareGifs(before!, after, { shown: await decodeAhead(before!, signal), maxDifference: 0, signal });
    await expect(compareWith(same!)).resolves.toBeUndefined();
    await expect(compareWith(other!)).rejects.toThrow('shows something else');
  });

  it('decodes ahead until it is aborted', async () => {
    const gif = readGif(writeGif(GIF), GIF.frames.length);
    await expect(decodeAhead(gif, AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough');
  });

  it('ends with the reason of an abort', async () => {
    await expect(compared({}, 0, AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough');
  });
});
