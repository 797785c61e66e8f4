import { setImmediate as yieldToEvents } from 'node:timers/promises';
import { readGifFrames, shownFrames, type GifAnimation } from '#worker-image/engine/containers/gif-frames.ts';

/** A GIF in memory. */
export interface ReadGif {
  readonly bytes: Buffer;
  readonly animation: GifAnimation;
}

/** Returns the GIF with its frames. @throws as `readGifFrames`. */
export function readGif(bytes: Buffer, maxFrames: number): ReadGif {
  return { bytes, animation: readGifFrames(bytes, maxFrames) };
}

/**
 * Compares two GIFs as browsers show them: size, loop, and each frame with its delay.
 * @param maxDifference Maximum difference of a sample, of 255; transparency is always equal.
 * @throws Error that says what differs. @throws the signal's reason on abort.
 */
export async function compareGifs(
  before: ReadGif,
  after: ReadGif,
  { maxDifference, signal }: { readonly maxDifference: number; readonly signal: AbortSignal },
): Promise<void> {
  compareProperties(before.animation, after.animation);
  const others = shownFrames(after.bytes, after.animation);
  for (const screen of shownFrames(before.bytes, before.animation)) {
    const other = others.next();
    if (other.done === true) throw new Error('The GIF has fewer frames.');
    if (differs(screen, other.value, maxDifference)) throw new Error('A frame of the GIF shows something else.');
    await yieldToEvents();
    signal.throwIfAborted();
  }
}

function compareProperties(before: GifAnimation, after: GifAnimation): void {
  const [one, other] = [before, after].map(({ width, height, loop, frames }) =>
    JSON.stringify([width, height, loop, frames.map(({ delay }) => delay)]),
  );
  if (one !== other) throw new Error('The GIF has another size, loop or other delays.');
}

/** Step from one compared sample to the next where there are losses: comes to each of the four samples of a pixel. */
const SAMPLE_STEP = 5;

function differs(one: Buffer, other: Buffer, maxDifference: number): boolean {
  if (one.equals(other)) return false;
  if (maxDifference === 0) return true;
  for (let at = 0; at < one.length; at += SAMPLE_STEP) {
    const difference = (one[at] ?? 0) - (other[at] ?? 0);
    if (difference > maxDifference || difference < -maxDifference) return true;
  }
  return false;
}
