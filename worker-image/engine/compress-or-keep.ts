import { stat } from 'node:fs/promises';
import { asRefusal, isPlainError } from '#worker-image/engine/file-fault.ts';
import type { EngineDeps, KindHandler, Produced, Work } from '#worker-image/engine/handler.ts';
import type { Made, Step } from '#worker-image/engine/process-file.ts';
import { sha256 } from '#worker-image/engine/sha256.ts';

type Operation = NonNullable<KindHandler['compress']>;

/** What came of one try; null when its result did not pass the check. */
interface Tried {
  readonly produced: Produced | null;
  readonly warnings: readonly string[];
}

/**
 * Makes the file smaller, or gives the original back. An original never goes back with metadata that
 * the caller wanted removed: a lossless strip is tried before. Spec: kept_original, image.strip_metadata.
 */
export async function compressOrKeep(engine: EngineDeps, step: Step): Promise<Made> {
  const { handler, work } = step;
  if (handler.compress === undefined) throw new TypeError(`the handler of ${work.input.kind} lacks compress`);
  const compressed = await tryOperation(engine, step, handler.compress);
  if (compressed.produced !== null && (await sizeOf(compressed.produced)) < work.input.size) {
    return { produced: compressed.produced, keptOriginal: false };
  }
  const stripped = wantsStrip(work) ? await strip(engine, step) : NOTHING_TRIED;
  const warnings = [...compressed.warnings, ...stripped.warnings];
  if (stripped.produced !== null) {
    return {
      produced: { ...stripped.produced, warnings: [...warnings, ...stripped.produced.warnings] },
      keptOriginal: false,
    };
  }
  return { produced: original(step, warnings), keptOriginal: true };
}

const NOTHING_TRIED: Tried = { produced: null, warnings: [] };

async function tryOperation(engine: EngineDeps, { handler, work, facts }: Step, operation: Operation): Promise<Tried> {
  const { format } = work.input;
  let produced: Produced;
  try {
    produced = await operation(engine, work, facts);
  } catch (error) {
    throw asRefusal(
      error,
      `The ${format} file could not be compressed: it is damaged, or uses a feature that is not handled.`,
    );
  }
  try {
    await handler.verify(engine, work, facts, produced);
    return { produced, warnings: [] };
  } catch (error) {
    engine.signal.throwIfAborted();
    if (!isPlainError(error)) throw error;
    return { produced: null, warnings: [`The compressed file did not pass its check (${error.message}).`] };
  }
}

/** The stripped file when it differs from the input and is no larger. */
async function strip(engine: EngineDeps, step: Step): Promise<Tried> {
  const { handler, work } = step;
  if (handler.stripMetadata === undefined) return NOTHING_TRIED;
  const tried = await tryStrip(engine, step, handler.stripMetadata);
  if (tried.produced === null) return tried;
  const size = await sizeOf(tried.produced);
  if (size > work.input.size) return { produced: null, warnings: [LEFT] };
  const isSame = size === work.input.size && (await haveSameBytes(tried.produced.path, work.input.path));
  return isSame ? NOTHING_TRIED : tried;
}

const LEFT = 'The original was kept with its metadata: removing it would have made the file larger.';

/** The original is good as it is: a strip that fails costs a warning, not the result. */
async function tryStrip(engine: EngineDeps, step: Step, operation: Operation): Promise<Tried> {
  const work: Work = { ...step.work, operation: 'strip_metadata' };
  try {
    return await tryOperation(engine, { ...step, work }, operation);
  } catch (error) {
    engine.signal.throwIfAborted();
    if (!(error instanceof Error) || error.name !== 'MediaError') throw error;
    return { produced: null, warnings: [`The original was kept with its metadata: ${error.message}`] };
  }
}

/** `strip_metadata` of the kind's options. It does not apply to PNG. */
function wantsStrip({ input, options }: Work): boolean {
  if (input.kind === 'image') return options.image.strip_metadata && input.format !== 'png';
  return input.kind === 'audio' && options.audio.strip_metadata;
}

function original({ work, facts }: Step, warnings: readonly string[]): Produced {
  return { path: work.input.path, format: work.input.format, facts, warnings };
}

async function sizeOf(produced: Produced): Promise<number> {
  return (await stat(produced.path)).size;
}

async function haveSameBytes(a: string, b: string): Promise<boolean> {
  return (await sha256(a)) === (await sha256(b));
}
