/** Runs ffmpeg from the input to a new file, with progress. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { extensionOf } from '#crds/catalogue/formats.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import type { EngineDeps, Produced, Work } from '#worker-image/engine/handler.ts';
import { ffmpegArguments, runFfmpeg, type MuxableFormat } from '#worker-image/tools/ffmpeg.ts';

interface EncoderRun {
  readonly work: Work;
  readonly format: MuxableFormat;
  readonly inputOptions?: readonly string[];
  readonly outputOptions: readonly string[];
  /** Playing time of the input in seconds, for the progress. */
  readonly seconds: number;
  /** File name without extension; a second run needs another name. */
  readonly name?: string;
}

/**
 * Writes the output and returns its path, with the size that ffmpeg reports.
 * @throws MediaError processing_failed when ffmpeg fails or writes nothing.
 */
export async function encode(
  deps: EngineDeps,
  { work, format, inputOptions = [], outputOptions, seconds, name = 'output' }: EncoderRun,
): Promise<Pick<Produced, 'path' | 'written'>> {
  const path = join(work.directory, `${name}.${extensionOf(format)}`);
  let bytes: number | null = null;
  const result = await runFfmpeg(deps, {
    args: ffmpegArguments({ input: work.input, inputOptions, outputOptions, output: { path, format } }),
    directory: work.directory,
    onSeconds: (now) => {
      if (seconds > 0) deps.onProgress(Math.min(100, (now / seconds) * 100));
    },
    onBytes: (written) => (bytes = written),
  });
  const size = await stat(path).then(
    (file) => file.size,
    () => 0,
  );
  if (result.exitCode === 0 && size > 0)
    return { path, written: bytes === null ? undefined : { bytes, checksum: null } };
  throw new MediaError(
    'processing_failed',
    `The ${work.input.format} file could not be decoded: it is damaged, or uses a codec that is not handled.`,
    {
      cause: `ffmpeg ${result.exitCode}: ${result.stderr}`,
    },
  );
}

/** Returns whether the file caused the error of a plan, so that another plan may succeed. */
export function mayRetry(deps: Pick<EngineDeps, 'signal'>, error: unknown): boolean {
  return !deps.signal.aborted && !(error instanceof MediaError && error.code !== 'processing_failed');
}

/** Compares two playing times. @throws Error when they differ by more than `tolerance` seconds and by more than 2 %. */
export function compareSeconds(input: number, output: number, tolerance = 1): void {
  if (Math.abs(input - output) <= Math.max(tolerance, input * 0.02)) return;
  throw new Error(`the output lasts ${output} seconds, the input ${input}`);
}
