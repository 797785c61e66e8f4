import { describe, expect, it } from 'vitest';
import { countPngFrames } from '#worker-image/engine/image/loaders/count-png-frames.ts';
import { makePngChunk, PNG_SIGNATURE } from '#worker-image/engine/containers/png-chunks.ts';

function png(...chunks: readonly Buffer[]): Parameters<typeof countPngFrames>[0] {
  const file = Buffer.concat([PNG_SIGNATURE, makePngChunk('IHDR', Buffer.alloc(13)), ...chunks]);
  return { read: (at, length) => Promise.resolve(file.subarray(at, at + length)) };
}

const PIXELS = makePngChunk('IDAT', Buffer.alloc(0));
const FRAME = makePngChunk('fcTL', Buffer.alloc(26));
const animation = (frames: number): Buffer => makePngChunk('acTL', Buffer.from([0, 0, 0, frames, 0, 0, 0, 0]));

describe('countPngFrames', () => {
  it.each([
    ['a still image', png(PIXELS), 1],
    ['three frames', png(animation(3), FRAME, PIXELS), 3],
    ['one frame that is the still image', png(animation(1), FRAME, PIXELS), 1],
    ['one frame after the still image', png(animation(1), PIXELS), 2],
    ['an animation chunk behind the pixels', png(PIXELS, animation(3)), 1],
    ['a truncated header', png(animation(3).subarray(0, 10)), 1],
  ])('counts the frames of %s', async (_what, file, frames) => {
    expect(await countPngFrames(file)).toBe(frames);
  });
});
