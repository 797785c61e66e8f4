/**
 * One file, one way through: identify → guard → inspect → guard → process → verify → report.
 * Only this pipeline decides what a caller gets; the handlers only know their kind.
 */
import { link, mkdir, stat, symlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { extensionOf, type Kind } from '#crds/formats.ts';
import type { WorkerReport } from '#crds/media-job.ts';
import type { FileLimits } from '#crds/plans.ts';
import { compressOrKeep } from '#worker-image/engine/compress-or-keep.ts';
import { asRefusal } from '#worker-image/engine/file-fault.ts';
import { refuseBeforeOpening, refuseOverLimits, type Asked } from '#worker-image/engine/guard.ts';
import type { EngineDeps, Facts, KindHandler, Produced, Work } from '#worker-image/engine/handler.ts';
import { LIBRARIES } from '#worker-image/engine/handlers.ts';
import { identify } from '#worker-image/engine/identify.ts';
import { makeReport } from '#worker-image/engine/report.ts';
import { sha256 } from '#worker-image/engine/sha256.ts';
import { TOOL_LIBRARIES } from '#worker-image/tools/tool-versions.ts';

export interface FileTask extends Asked {
  readonly limits: FileLimits;
  /** The input, inside of the directory. It is read, never changed. */
  readonly path: string;
  /** As the caller gave it; separates formats that the content cannot. */
  readonly filename: string | null;
  /** Private, for this file alone. The caller removes it. */
  readonly directory: string;
}

export interface ProcessedFile {
  /** Inside the task's directory. */
  readonly path: string;
  readonly report: WorkerReport;
}

export interface PipelineDeps extends EngineDeps {
  readonly loadHandler: (kind: Kind) => Promise<KindHandler>;
  /** Versions of tools and libraries by name; those that were used go into the report. */
  readonly versions: Readonly<Record<string, string>>;
}

/** What the last step before the report gives. */
export interface Made {
  readonly produced: Produced;
  readonly keptOriginal: boolean;
}

/** One file with all that a step needs to know. */
export interface Step {
  readonly handler: KindHandler;
  readonly work: Work;
  readonly facts: Facts;
}

/** Shares of the progress: inspection ends, and the handler's own work ends. */
const INSPECTED_PERCENT = 2;
const MADE_PERCENT = 96;

/**
 * Processes one file.
 * @throws MediaError for a file or option that is refused; the signal's reason on abort; anything else is a bug.
 */
export async function processFile(deps: PipelineDeps, task: FileTask): Promise<ProcessedFile> {
  const used = new Set<string>();
  const engine = recordingDeps(deps, used);
  const reading = new AbortController();
  try {
    const work = await openWork(task);
    refuseBeforeOpening(task, work.input);
    const inputSha256 = sha256(work.input.path, reading.signal);
    // Awaited at the end; a file that is refused before does not wait for it.
    inputSha256.catch(() => undefined);
    const handler = await deps.loadHandler(work.input.kind);
    const facts = await inspect(engine, handler, work);
    refuseOverLimits(work.input, facts, task.limits);
    const made = await make(engine, { handler, work, facts });
    deps.onProgress(MADE_PERCENT);
    for (const library of LIBRARIES[work.input.kind] ?? []) used.add(library);
    const tools = versionsOf(used, deps.versions);
    const report = await makeReport({ handler, work, facts }, made, { inputSha256: await inputSha256, tools });
    return { path: made.produced.path, report };
  } catch (error) {
    deps.signal.throwIfAborted();
    throw error;
  } finally {
    reading.abort();
  }
}

/** Identifies the file and gives it a fixed name with the extension of its content, as some tools go by that. */
async function openWork(task: FileTask): Promise<Work> {
  const { operation, options, limits, directory } = task;
  const found = await identify(task);
  const { size } = await stat(task.path);
  const outputs = join(directory, 'out');
  await Promise.all([mkdir(join(directory, 'in')), mkdir(outputs)]);
  const path = join(directory, 'in', `input.${extensionOf(found.format)}`);
  await link(task.path, path).catch(() => symlink(resolve(task.path), path));
  return { operation, options, limits, directory: outputs, input: { ...found, path, size } };
}

async function inspect(engine: EngineDeps, handler: KindHandler, work: Work): Promise<Facts> {
  try {
    const facts = await handler.inspect(engine, work);
    engine.onProgress(0);
    return facts;
  } catch (error) {
    throw asRefusal(
      error,
      `The ${work.input.format} file cannot be read: it is damaged or not complete. Check that it opens elsewhere.`,
    );
  }
}

async function make(engine: EngineDeps, step: Step): Promise<Made> {
  switch (step.work.operation) {
    case 'compress':
      return compressOrKeep(engine, step);
    case 'convert':
      return { produced: await makeVerified(engine, step, step.handler.convert), keptOriginal: false };
    case 'strip_metadata':
      return { produced: await makeVerified(engine, step, step.handler.stripMetadata), keptOriginal: false };
  }
}

/** Runs one of the handler's operations and its check; both fail as processing_failed. */
async function makeVerified(
  engine: EngineDeps,
  { handler, work, facts }: Step,
  operation: KindHandler['convert'],
): Promise<Produced> {
  if (operation === undefined) throw new TypeError(`the handler of ${work.input.kind} lacks ${work.operation}`);
  try {
    const produced = await operation(engine, work, facts);
    await handler.verify(engine, work, facts, produced);
    return produced;
  } catch (error) {
    throw asRefusal(error, `The ${work.input.format} file could not be processed without loss of content.`);
  }
}

function recordingDeps(deps: PipelineDeps, used: Set<string>): EngineDeps {
  const share = MADE_PERCENT - INSPECTED_PERCENT;
  return {
    signal: deps.signal,
    onProgress: (percent) => deps.onProgress(INSPECTED_PERCENT + (Math.min(100, Math.max(0, percent)) * share) / 100),
    run: (command) => {
      used.add(command.file);
      return deps.run(command);
    },
  };
}

function versionsOf(used: ReadonlySet<string>, versions: Readonly<Record<string, string>>): Record<string, string> {
  const names = [...used].flatMap((name) => [name, ...(TOOL_LIBRARIES[name] ?? [])]);
  return Object.fromEntries(names.toSorted().map((name) => [name, versions[name] ?? 'unknown']));
}
