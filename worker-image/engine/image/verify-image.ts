/** Reopens a produced image and compares it with the input and the options. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Format } from '#crds/formats.ts';
import type { EngineDeps, Facts, Produced, Work } from '#worker-image/engine/handler.ts';
import { decodeHeif } from '#worker-image/engine/image/decode-heif.ts';
import { hasManyItems } from '#worker-image/engine/image/heif-sequence.ts';
import { loadSharp } from '#worker-image/engine/image/load-sharp.ts';
import { decodeOddTiff, oddTiff } from '#worker-image/engine/image/odd-tiff.ts';
import { readImageFacts, type ImageFile } from '#worker-image/engine/image/read-image-facts.ts';
import { readableCopy } from '#worker-image/engine/image/readable-copy.ts';
import { resizedSize, type Size } from '#worker-image/engine/image/resize-image.ts';

type VerifyDeps = Pick<EngineDeps, 'run' | 'signal'>;

const TOOL_SECONDS = 300;
/** Sides may differ by rounding. */
const SIDE_TOLERANCE = 1;
/** A decoder reads the file to its end for a small picture too, and JPEG's does so faster. */
const DECODED_SIDE = 32;
const GIF_TICK_MS = 10;

/**
 * The file has the expected size in pixels, decodes to its end, and an animation lasts as long as before.
 * @throws Error that says what differs.
 */
export async function verifyImage(deps: VerifyDeps, work: Work, input: Facts, produced: Produced): Promise<void> {
  if ((await stat(produced.path)).size === 0) throw new Error('The output file is empty.');
  if (produced.format === 'pdf') return verifyPdf(deps, work, produced.path);
  const written = await readImageFacts(deps, { ...produced, directory: work.directory });
  compareSizes(written, wantedSize(work, input, produced));
  await decode(deps, work, produced);
  if (holdsAnimation(produced.format) && holdsAnimation(work.input.format) && (input.frames ?? 1) > 1) {
    await compareDurations(work.input.path, produced.path);
  }
}

function holdsAnimation(format: Format): boolean {
  return format === 'gif' || format === 'webp';
}

function compareSizes({ width, height }: Facts, wanted: Size): void {
  if (isNear(width, wanted.width) && isNear(height, wanted.height)) return;
  throw new Error(`The output is ${width} × ${height} pixels instead of ${wanted.width} × ${wanted.height}.`);
}

function wantedSize(work: Work, input: Facts, produced: Produced): Size {
  const size = { width: input.width ?? 0, height: input.height ?? 0 };
  const isInput = produced.facts.width === size.width && produced.facts.height === size.height;
  // A compressed file that was only stripped keeps its size whatever the resize says.
  return work.operation === 'compress' && !(isInput && produced.format === work.input.format)
    ? resizedSize(size, work.options.image.resize)
    : size;
}

function isNear(one: number | null, other: number): boolean {
  return one !== null && Math.abs(one - other) <= SIDE_TOLERANCE;
}

async function decode(deps: VerifyDeps, work: Work, produced: Produced): Promise<void> {
  if (produced.format === 'heic') return decodeHeic(deps, work, produced.path);
  // Our own reader and writer of BMP have no decoder beside them; the headers were read.
  if (produced.format === 'bmp') return;
  const path = await readablePath(deps, { path: produced.path, format: produced.format, directory: work.directory });
  const sharp = await loadSharp();
  const animated = holdsAnimation(produced.format);
  const unlimited = produced.format === 'avif' && (await hasManyItems(path));
  await sharp(path, { limitInputPixels: false, failOn: 'error', animated, unlimited })
    .resize(DECODED_SIDE, DECODED_SIDE, { fit: 'fill' })
    .raw()
    .toBuffer();
}

async function readablePath(deps: VerifyDeps, file: ImageFile): Promise<string> {
  const odd = file.format === 'tiff' ? await oddTiff(file.path) : null;
  return odd === null ? readableCopy(file) : decodeOddTiff(deps, { ...file, odd });
}

async function decodeHeic(deps: VerifyDeps, { directory }: Work, path: string): Promise<void> {
  const decoded = join(directory, 'verified.tif');
  const fault = await decodeHeif(deps, { path, directory, timeoutSeconds: TOOL_SECONDS }, decoded);
  if (fault !== null) throw new Error(`The HEIC output does not decode: ${fault}`);
}

async function verifyPdf({ run, signal }: VerifyDeps, { directory }: Work, path: string): Promise<void> {
  const { exitCode, stdout, stderr } = await run({
    file: 'qpdf',
    args: ['--check', path],
    directory,
    signal,
    timeoutSeconds: TOOL_SECONDS,
  });
  if (exitCode !== 0) throw new Error(`The PDF output has faults: ${stdout.slice(0, 500)} ${stderr.slice(0, 500)}`);
}

/**
 * Equal neighbours may become one longer frame; the whole must last as long, unless no frame differs from another. GIF counts in hundredths of a second.
 * Browsers show a frame of 10 ms or less for 100 ms, and the writer of WebP makes it so: either sum may agree.
 */
async function compareDurations(input: string, output: string): Promise<void> {
  const [before, after] = await Promise.all([duration(input), duration(output)]);
  if (after.frames === 1 && (await isStill(input, before.frames))) return;
  const [written, shown] = [Math.abs(before.ms - after.ms), Math.abs(before.shownMs - after.shownMs)];
  if (Math.min(written, shown) > GIF_TICK_MS * before.frames) {
    throw new Error(`The animation lasts ${after.ms} ms instead of ${before.ms} ms.`);
  }
}

const UNSHOWN_MS = 10;
const SHOWN_INSTEAD_MS = 100;

async function duration(path: string): Promise<{ ms: number; shownMs: number; frames: number }> {
  const sharp = await loadSharp();
  const { delay = [], pages = 1 } = await sharp(path, { limitInputPixels: false, animated: true }).metadata();
  const sum = (times: readonly number[]): number => times.reduce((total, ms) => total + ms, 0);
  const shown = delay.map((ms) => (ms <= UNSHOWN_MS ? SHOWN_INSTEAD_MS : ms));
  return { ms: sum(delay), shownMs: sum(shown), frames: pages };
}

/** Whether all frames look the same, made small. */
async function isStill(path: string, frames: number): Promise<boolean> {
  const sharp = await loadSharp();
  const strip = await sharp(path, { limitInputPixels: false, animated: true })
    .resize(DECODED_SIDE, DECODED_SIDE, { fit: 'fill' })
    .raw()
    .toBuffer();
  const bytes = strip.length / frames;
  const first = strip.subarray(0, bytes);
  return Array.from({ length: frames }, (_, i) => strip.subarray(i * bytes, (i + 1) * bytes)).every((frame) =>
    frame.equals(first),
  );
}
