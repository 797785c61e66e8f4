import { statSync } from 'node:fs';
import { withFileReader } from '#worker-image/engine/containers/file-reader.ts';
import { asRefusal, isPlainError } from '#worker-image/engine/file-fault.ts';
import { verifyOutput } from '#worker-image/engine/verify-output.ts';
import type { EngineDeps, Facts, InspectedFile, Produced, VerifiedOutput, Work } from '#worker-image/engine/handler.ts';

/** The result of one operation; null when it failed its verification, or when there is nothing to use. */
interface OperationResult {
  readonly produced: Produced | null;
  readonly warnings: readonly string[];
}

/**
 * Compresses the file, or returns the original when the result is not smaller. When the caller wants metadata removed,
 * a lossless strip of the original is tried first.
 */
export async function compressOrKeep(engine: EngineDeps, file: InspectedFile): Promise<VerifiedOutput> {
  const { work } = file;
  const compressed = await tryOperation(engine, file, 'compress');
  if (compressed.produced !== null && sizeOf(compressed.produced) < work.input.size) {
    return { produced: compressed.produced, keptOriginal: false };
  }
  const discarded = compressed.produced === null ? [] : discardedWarnings(file, compressed.produced);
  const stripped = wantsStrip(work) ? await strip(engine, file) : NO_RESULT;
  const warnings = [...compressed.warnings, ...stripped.warnings, ...discarded];
  if (stripped.produced !== null) {
    return {
      produced: { ...stripped.produced, warnings: [...warnings, ...stripped.produced.warnings] },
      keptOriginal: false,
    };
  }
  return { produced: original(file, warnings), keptOriginal: true };
}

/**
 * Returns a warning when the discarded result had another format or size that the caller requested: the original is
 * returned in its place, and the caller must not mistake it for the requested file.
 */
function discardedWarnings({ work, facts }: InspectedFile, discarded: Produced): string[] {
  const { format, size } = work.input;
  const [before, after] = [pixels(facts), pixels(discarded.facts)];
  const hasOtherFormat = discarded.format !== format && namesFormat(work);
  if (!hasOtherFormat && before === after) return [];
  const wanted = before === after ? discarded.format : `${discarded.format} of ${after}`;
  return [
    `The ${wanted} would have ${sizeOf(discarded)} bytes, more than the ${size} of the ${format}: compressing never makes a file larger, so its format and dimensions stay. Use convert to change the format.`,
  ];
}

function pixels({ width, height }: Facts): string {
  return width === undefined ? '' : `${width}x${height}`;
}

/** Returns whether the caller chose a format. AAC and MP4 are also the defaults, so they are not counted as a choice. */
function namesFormat({ input, options }: Work): boolean {
  if (input.kind === 'image') return options.image.format !== 'original';
  if (input.kind === 'video') return options.video.format !== 'mp4';
  return input.kind === 'audio' && options.audio.format !== 'aac';
}

const NO_RESULT: OperationResult = { produced: null, warnings: [] };

async function tryOperation(
  engine: EngineDeps,
  file: InspectedFile,
  operation: 'compress' | 'stripMetadata',
): Promise<OperationResult> {
  const { handler, work, facts } = file;
  let produced: Produced | undefined;
  try {
    produced = await handler[operation]?.(engine, work, facts);
  } catch (error) {
    throw asRefusal(
      error,
      `The ${work.input.format} file could not be compressed: it is damaged, or uses a feature that is not handled.`,
    );
  }
  if (produced === undefined) throw new TypeError(`the handler of ${work.input.kind} lacks ${operation}`);
  try {
    await verifyOutput(engine, file, produced);
    return { produced, warnings: [] };
  } catch (error) {
    engine.signal.throwIfAborted();
    if (!isPlainError(error)) throw error;
    return { produced: null, warnings: [`The compressed file did not pass verification (${error.message}).`] };
  }
}

/** Returns the stripped file when it differs from the input and is no larger. */
async function strip(engine: EngineDeps, file: InspectedFile): Promise<OperationResult> {
  const { handler, work } = file;
  if (handler.stripMetadata === undefined) return NO_RESULT;
  const result = await tryStrip(engine, file);
  if (result.produced === null) return result;
  const size = sizeOf(result.produced);
  if (size > work.input.size) return { produced: null, warnings: [STRIPPED_LARGER_WARNING] };
  const isSame = size === work.input.size && (await haveSameBytes(result.produced.path, work.input.path));
  return isSame ? NO_RESULT : result;
}

const STRIPPED_LARGER_WARNING = 'The original was kept with its metadata: removing it would have made the file larger.';

/** Strips the original; a refusal becomes a warning, as the original itself is a valid result. */
async function tryStrip(engine: EngineDeps, file: InspectedFile): Promise<OperationResult> {
  const work: Work = { ...file.work, operation: 'strip_metadata' };
  try {
    return await tryOperation(engine, { ...file, work }, 'stripMetadata');
  } catch (error) {
    engine.signal.throwIfAborted();
    if (!(error instanceof Error) || error.name !== 'MediaError') throw error;
    return { produced: null, warnings: [`The original was kept with its metadata: ${error.message}`] };
  }
}

/** Returns the `strip_metadata` option of the kind. It does not apply to PNG. */
function wantsStrip({ input, options }: Work): boolean {
  if (input.kind === 'image') return options.image.strip_metadata && input.format !== 'png';
  return input.kind === 'audio' && options.audio.strip_metadata;
}

function original({ work, facts }: InspectedFile, warnings: readonly string[]): Produced {
  return { path: work.input.path, format: work.input.format, facts, warnings };
}

function sizeOf(produced: Produced): number {
  return statSync(produced.path).size;
}

/** Bytes that are compared at a time. */
const COMPARED_BYTES = 512 * 1024;

/** Compares two files of the same size. */
function haveSameBytes(one: string, other: string): Promise<boolean> {
  return withFileReader(one, (left) =>
    withFileReader(other, async (right) => {
      for (let at = 0; at < left.size; at += COMPARED_BYTES) {
        const [bytes, others] = await Promise.all([left.read(at, COMPARED_BYTES), right.read(at, COMPARED_BYTES)]);
        if (!bytes.equals(others)) return false;
      }
      return true;
    }),
  );
}
