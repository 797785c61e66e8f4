/**
 * GIF by gifsicle, which compresses the frames that are there. It is trusted with nothing: a result is used when a browser
 * would show the same frames.
 */
import { readFile, rm, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { crc32 } from 'node:zlib';
import { MediaError } from '#crds/contract/media-error.ts';
import { isPlainError } from '#worker-image/engine/file-fault.ts';
import type { WrittenFile } from '#worker-image/engine/written-file.ts';
import type { GifAnimation } from '#worker-image/engine/containers/gif-frames.ts';
import { decodeGifPixels, makePixelTarget } from '#worker-image/engine/containers/gif-pixels.ts';
import { compareGifs, readGif, type ReadGif } from '#worker-image/engine/image/encode/compare-gifs.ts';
import type { ImageSize } from '#worker-image/engine/image/picture.ts';
import { isDistrusted } from '#worker-image/engine/image/gif-logical-screen.ts';
import type { EncoderDeps } from '#worker-image/engine/image/encode/encoder.ts';

export interface GifTask {
  /** Path of the input, which is read only. */
  readonly input: string;
  readonly path: string;
  readonly directory: string;
  /** Size and number of the frames as libvips reads them. A GIF that browsers show otherwise is not compressed. */
  readonly size: ImageSize;
  readonly frames: number;
  /** Loss of gifsicle, 0 for none. */
  readonly loss: number;
}

/** Maximum size of the logical screen, in pixels: it is held twice, with 5 bytes a pixel. */
const MAX_SCREEN_PIXELS = 16_000_000;
/** Maximum size of the input, in bytes: it is held with its result. */
const MAX_BYTES = 128 * 1024 ** 2;
const COMPRESS_SECONDS = 300;

/**
 * Writes the GIF with fewer bytes and the same frames, delays and loop, and without other metadata. Resolves with null when
 * no result can be trusted, or none is possible.
 * @throws the signal's reason on abort. @throws MissingTool or ToolKilled as `run` does.
 */
export async function compressGif(deps: EncoderDeps, task: GifTask): Promise<WrittenFile | null> {
  if ((await stat(task.input)).size > MAX_BYTES) return null;
  const gif = await orNull(deps, async () => readGif(await readFile(task.input), task.frames));
  if (gif === null || !isHandled(gif, task)) return null;
  const attempts = await orNull(deps, () => Promise.resolve(attemptsFor(gif, task.loss)));
  for (const attempt of attempts ?? []) {
    const written = await orNull(deps, () => tryAttempt(deps, { ...task, ...attempt }, gif));
    // A small loss can make a smooth image larger.
    if (written !== null && (attempt.loss === 0 || written.bytes < gif.bytes.length)) return written;
  }
  await rm(task.path, { force: true });
  return null;
}

function isHandled({ animation: { width, height, frames } }: ReadGif, task: GifTask): boolean {
  const isWhole = width === task.size.width && height === task.size.height && frames.length === task.frames;
  return isWhole && width * height <= MAX_SCREEN_PIXELS;
}

interface Attempt {
  readonly loss: number;
  /** 1: each frame covers what changes. 2: equal pixels within it are transparent. */
  readonly level: 1 | 2;
}

/**
 * Returns the attempts, the best first. Where nearly every pixel changes, level 1 takes half the time. gifsicle 1.96 takes
 * the colors of the first color table that a frame has for those of all others: losses then show, unless by luck on the
 * other level. @throws Error when the second frame cannot be decoded.
 */
function attemptsFor(gif: ReadGif, loss: number): Attempt[] {
  const level = changesEverywhere(gif) ? 1 : 2;
  const attempts: Attempt[] = [
    { loss, level },
    { loss, level: 2 },
    { loss: 0, level },
  ];
  return attempts.filter(
    (one, at) => attempts.findIndex((other) => other.loss === one.loss && other.level === one.level) === at,
  );
}

/** Minimum bytes a pixel of a GIF whose pixels mostly change. */
const MIN_CHANGING_BYTES = 0.2;
const MAX_UNCHANGED_SHARE = 0.1;

/** Returns whether nearly every pixel differs from the frame before, by the size of the file and its second frame. */
function changesEverywhere({ bytes, animation: { frames } }: ReadGif): boolean {
  const pixels = frames.reduce((sum, { width, height }) => sum + width * height, 0);
  const [, frame] = frames;
  if (frame === undefined || bytes.length < pixels * MIN_CHANGING_BYTES) return false;
  const size = frame.width * frame.height;
  const indices = makePixelTarget(size);
  decodeGifPixels(bytes, frame.data, indices, size);
  const unchanged = indices.subarray(0, size).filter((index) => frame.colors[index] === 0).length;
  return unchanged <= size * MAX_UNCHANGED_SHARE;
}

/**
 * Color space in which gifsicle 1.96 measures losses. With this one they are about those of earlier versions, which do not
 * use it.
 */
const GAMMA = '1.13';

/** Maximum size of a result, as a multiple of the input, and of what a tiny input gets in addition, in bytes. */
const [SIZE_FACTOR, HEADER_BYTES] = [2, 4096];

async function tryAttempt(deps: EncoderDeps, task: GifTask & Attempt, gif: ReadGif): Promise<WrittenFile> {
  const { input, path, directory, loss, level } = task;
  const { exitCode, stderr } = await deps.run({
    file: 'gifsicle',
    args: [
      `-O${level}`,
      // Otherwise frames that change nothing are dropped.
      '-Okeep-empty',
      `--gamma=${GAMMA}`,
      ...(loss === 0 ? [] : [`--lossy=${loss}`]),
      '--no-comments',
      '--no-names',
      '--no-extensions',
      '--no-warnings',
      '-o',
      resolve(path),
      resolve(input),
    ],
    directory,
    signal: deps.signal,
    timeoutSeconds: COMPRESS_SECONDS,
    maxFileBytes: SIZE_FACTOR * gif.bytes.length + HEADER_BYTES,
  });
  if (exitCode !== 0) throw new Error(`gifsicle exited with ${exitCode}: ${stderr.slice(0, 500)}`);
  const bytes = await readFile(path).catch((cause: unknown) => {
    throw new Error('gifsicle wrote no output.', { cause });
  });
  const result = readGif(bytes, task.frames);
  if (isDistrusted(task.size) && !isCovered(result.animation)) throw new Error('libvips would crop the GIF.');
  await compareGifs(gif, result, { maxDifference: maxDifferenceOf(loss), signal: deps.signal });
  return { bytes: bytes.length, checksum: crc32(bytes), undecoded: 'nothing' };
}

function isCovered({ width, height, frames }: GifAnimation): boolean {
  return (
    frames.some((frame) => frame.left + frame.width === width) &&
    frames.some((frame) => frame.top + frame.height === height)
  );
}

/** Returns the difference of a sample, of 255, that gifsicle stays below with a loss: a third more than measured. */
function maxDifferenceOf(loss: number): number {
  return Math.ceil(8 * Math.sqrt(loss));
}

/** Resolves with null when the file makes the operation fail. */
async function orNull<T>({ signal }: EncoderDeps, operation: () => Promise<T>): Promise<T | null> {
  try {
    return await operation();
  } catch (error) {
    signal.throwIfAborted();
    if (isPlainError(error) || error instanceof MediaError) return null;
    throw error;
  }
}
