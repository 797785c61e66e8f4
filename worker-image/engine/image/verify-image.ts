/** Compares a produced image with the input and the options. */
import { statSync } from 'node:fs';
import { checkPdf } from '#worker-image/engine/check-pdf.ts';
import type { EngineDeps, Work } from '#worker-image/engine/handler.ts';
import { resizedSize } from '#worker-image/engine/image/encode/encode-image.ts';
import type { Animation, ImageFacts, ImageSize, ProducedImage } from '#worker-image/engine/image/picture.ts';

type VerifyDeps = Pick<EngineDeps, 'run' | 'signal'>;

/** Rounding of a side, in pixels. */
const SIDE_TOLERANCE = 1;
const GIF_TICK_MS = 10;

/**
 * Verifies that the file has the expected size in pixels and decodes to its end, unless its encoder has seen to that, and
 * that an animation lasts as long as before. @throws Error that says what differs.
 */
export async function verifyImage(
  deps: VerifyDeps,
  work: Work,
  input: ImageFacts,
  produced: ProducedImage,
): Promise<void> {
  if (statSync(produced.path).size === 0) throw new Error('The output file is empty.');
  const { picture } = produced.facts;
  if (picture === undefined) return checkPdf(deps, work.directory, produced.path);
  compareSizes(picture.size, wantedSize(work, input, produced));
  const undecoded = produced.written?.undecoded;
  if (undecoded !== 'nothing') await picture.verify(deps, undecoded);
  const before = input.picture.animation;
  if (picture.animation !== null && before !== null && before.frames > 1) {
    await compareDurations(before, picture.animation);
  }
}

function compareSizes({ width, height }: ImageSize, wanted: ImageSize): void {
  if (isNear(width, wanted.width) && isNear(height, wanted.height)) return;
  throw new Error(`The output is ${width} × ${height} pixels instead of ${wanted.width} × ${wanted.height}.`);
}

function wantedSize(work: Work, input: ImageFacts, produced: ProducedImage): ImageSize {
  const { size } = input.picture;
  const isInput = produced.facts.width === size.width && produced.facts.height === size.height;
  // Compress returns an animated PNG in its own size, whatever the resize option says.
  return work.operation === 'compress' && !(isInput && produced.format === work.input.format)
    ? resizedSize(size, work.options.image.resize)
    : size;
}

function isNear(one: number, other: number): boolean {
  return Math.abs(one - other) <= SIDE_TOLERANCE;
}

/**
 * Equal adjacent frames may become one longer frame, but the whole must last as long, unless all frames look the same.
 * GIF counts in hundredths of a second. Browsers show a frame of 10 ms or less for 100 ms, and the WebP encoder writes
 * that time: either total may agree.
 */
async function compareDurations(before: Animation, after: Animation): Promise<void> {
  if (after.frames === 1 && (await before.isStill())) return;
  const [stored, storedBefore] = [total(after.delays), total(before.delays)];
  const shownDifference = Math.abs(total(shownDelays(before)) - total(shownDelays(after)));
  if (Math.min(Math.abs(storedBefore - stored), shownDifference) > GIF_TICK_MS * before.frames) {
    throw new Error(`The animation lasts ${stored} ms instead of ${storedBefore} ms.`);
  }
}

const MAX_UNSHOWN_MS = 10;
const SHOWN_INSTEAD_MS = 100;

function shownDelays({ delays }: Animation): number[] {
  return delays.map((ms) => (ms <= MAX_UNSHOWN_MS ? SHOWN_INSTEAD_MS : ms));
}

function total(times: readonly number[]): number {
  return times.reduce((sum, ms) => sum + ms, 0);
}
