/**
 * The pipeline of one file: identify → guard → inspect → guard → process → verify → report.
 * Only the pipeline decides what a caller receives; a handler only knows its kind.
 */
import { linkSync, mkdirSync, statSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { extensionOf, type Kind } from '#crds/catalogue/formats.ts';
import type { FileLimits } from '#crds/catalogue/plans.ts';
import { MediaError, throwIfRefused } from '#crds/contract/media-error.ts';
import type { WorkerReport } from '#crds/contract/media-job.ts';
import type { WorkOrder } from '#crds/contract/work-order.ts';
import { refusalOf, type Lane } from '#crds/contract/work-rules.ts';
import { compressOrKeep } from '#worker-image/engine/compress-or-keep.ts';
import { asRefusal } from '#worker-image/engine/file-fault.ts';
import type {
  EngineDeps,
  Facts,
  InspectedFile,
  KindHandler,
  Produced,
  VerifiedOutput,
  Work,
} from '#worker-image/engine/handler.ts';
import { identify } from '#worker-image/engine/identify.ts';
import { heicRefusal, refuseH265 } from '#worker-image/engine/refuse-hevc.ts';
import { makeReport } from '#worker-image/engine/report.ts';
import { verifyOutput } from '#worker-image/engine/verify-output.ts';
import { sha256 } from '#worker-image/engine/sha256.ts';
import { TOOL_LIBRARIES } from '#worker-image/tools/tool-versions.ts';

export interface FileTask extends WorkOrder {
  readonly lane: Lane;
  /** Path of the input, inside the directory. It is read, never changed. */
  readonly path: string;
  /** Private directory of this file. The caller removes it. */
  readonly directory: string;
}

export interface ProcessedFile {
  /** Path inside the task's directory. */
  readonly path: string;
  readonly report: WorkerReport;
}

export interface PipelineDeps extends EngineDeps {
  /** Called once, when the file is inspected and within its limits. */
  readonly onFacts?: (input: Work['input'], facts: Facts) => void;
  readonly loadHandler: (kind: Kind) => Promise<KindHandler>;
  /** Versions of tools and libraries, by name; those that were used go into the report. */
  readonly versions: Readonly<Record<string, string>>;
}

/** Loaders of the handlers. Each is called with the first file of its kind: a font never loads the image library. */
const HANDLERS: Readonly<Record<Kind, () => Promise<KindHandler>>> = {
  image: async () => (await import('#worker-image/engine/image/image-handler.ts')).imageHandler,
  pdf: async () => (await import('#worker-image/engine/pdf/pdf-handler.ts')).pdfHandler,
  video: async () => (await import('#worker-image/engine/media/video-handler.ts')).videoHandler,
  audio: async () => (await import('#worker-image/engine/media/audio-handler.ts')).audioHandler,
  word: async () => (await import('#worker-image/engine/office/office-handler.ts')).wordHandler,
  sheet: async () => (await import('#worker-image/engine/office/office-handler.ts')).sheetHandler,
  presentation: async () => (await import('#worker-image/engine/office/office-handler.ts')).presentationHandler,
  table: async () => (await import('#worker-image/engine/table/table-handler.ts')).tableHandler,
  font: async () => (await import('#worker-image/engine/font/font-handler.ts')).fontHandler,
};

/** Loads the handler of a kind with its libraries. */
export function loadHandler(kind: Kind): Promise<KindHandler> {
  return HANDLERS[kind]();
}

/** npm packages that process a kind, besides the tools that its handler starts; their versions go into the report. */
const LIBRARIES: Readonly<Partial<Record<Kind, readonly string[]>>> = { image: ['sharp'] };

/** Progress at the end of the inspection, in percent. */
const INSPECTED_PERCENT = 2;
/** Progress at the end of the handler's work, in percent. */
const PROCESSED_PERCENT = 96;

/**
 * Processes one file.
 * @throws MediaError for a file or option that is refused; the signal's reason on abort; anything else is a bug.
 */
export async function processFile(deps: PipelineDeps, task: FileTask): Promise<ProcessedFile> {
  const used = new Set<string>();
  const hashing = new AbortController();
  try {
    const work = await openWork(task);
    throwIfRefused(refusalOf(task, { by: 'content', format: work.input.format }, task.lane));
    if (deps.withoutHevc === true) throwIfRefused(heicRefusal(task, work.input.format));
    const hashedInput = sha256(work.input.path, hashing.signal);
    // Awaited at the end: a refused file does not wait for it.
    hashedInput.catch(() => undefined);
    const handler = await deps.loadHandler(work.input.kind);
    const engine = recordingDeps(deps, used, work.input.kind);
    const facts = await inspect(engine, handler, work);
    if (deps.withoutHevc === true) refuseH265(facts);
    refuseOverLimits(work.input, facts, task.limits);
    deps.onFacts?.(work.input, facts);
    const file: InspectedFile = { handler, work, facts };
    const output = await runRequested(engine, file);
    deps.onProgress(PROCESSED_PERCENT);
    for (const library of LIBRARIES[work.input.kind] ?? []) used.add(library);
    const inputSha256 = await hashedInput;
    const outputSha256 = output.keptOriginal ? inputSha256 : await sha256(output.produced.path);
    const report = await makeReport(file, output, {
      inputSha256,
      outputSha256,
      tools: versionsOf(used, deps.versions),
    });
    return { path: output.produced.path, report };
  } catch (error) {
    deps.signal.throwIfAborted();
    throw error;
  } finally {
    hashing.abort();
  }
}

/** Identifies the file and links it under a fixed name with the extension of its content, which some tools rely on. */
async function openWork(task: FileTask): Promise<Work> {
  const { operation, options, limits, filename, directory } = task;
  const found = await identify(task);
  const { size } = statSync(task.path);
  const outputs = join(directory, 'out');
  mkdirSync(join(directory, 'in'));
  mkdirSync(outputs);
  const path = join(directory, 'in', `input.${extensionOf(found.format)}`);
  linkOrName(task.path, path);
  return { operation, options, limits, filename, directory: outputs, input: { ...found, path, size } };
}

function linkOrName(target: string, path: string): void {
  try {
    linkSync(target, path);
  } catch {
    symlinkSync(resolve(target), path);
  }
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

interface LimitCheck {
  readonly what: string;
  readonly value: (facts: Facts) => number | undefined;
  readonly limit: (limits: FileLimits) => number;
  readonly remedy: string;
}

const LIMIT_CHECKS: readonly LimitCheck[] = [
  {
    what: 'pixels (width times height)',
    value: ({ width, height }) => (width === undefined || height === undefined ? undefined : width * height),
    limit: ({ maxPixels }) => maxPixels,
    remedy: 'Send it with fewer pixels.',
  },
  { what: 'frames', value: ({ frames }) => frames, limit: ({ maxFrames }) => maxFrames, remedy: 'Send fewer frames.' },
  {
    what: 'pages',
    value: ({ pages }) => pages,
    limit: ({ maxPages }) => maxPages,
    remedy: 'Split it and send the parts.',
  },
  {
    what: 'seconds',
    value: ({ durationSeconds }) => durationSeconds,
    limit: ({ maxSeconds }) => maxSeconds,
    remedy: 'Send a shorter part.',
  },
];

/**
 * Compares the facts of a file with the limits of its account. See docs/reference/limits-and-prices.md.
 * @throws MediaError limit_exceeded with value and limit.
 */
export function refuseOverLimits(input: Work['input'], facts: Facts, limits: FileLimits): void {
  for (const { what, value, limit, remedy } of LIMIT_CHECKS) {
    const measured = value(facts);
    if (measured === undefined || measured <= limit(limits)) continue;
    throw new MediaError(
      'limit_exceeded',
      `The ${input.format} file has ${Math.round(measured * 10) / 10} ${what}; at most ${limit(limits)} are allowed. ${remedy}`,
    );
  }
}

async function runRequested(engine: EngineDeps, file: InspectedFile): Promise<VerifiedOutput> {
  switch (file.work.operation) {
    case 'compress':
      return compressOrKeep(engine, file);
    case 'convert':
      return { produced: await runVerified(engine, file, 'convert'), keptOriginal: false };
    case 'strip_metadata':
      return { produced: await runVerified(engine, file, 'stripMetadata'), keptOriginal: false };
  }
}

/** Runs and verifies an operation. @throws MediaError processing_failed when the file makes either fail. */
async function runVerified(
  engine: EngineDeps,
  file: InspectedFile,
  operation: 'convert' | 'stripMetadata',
): Promise<Produced> {
  const { handler, work, facts } = file;
  try {
    const produced = await handler[operation]?.(engine, work, facts);
    if (produced === undefined) throw new TypeError(`the handler of ${work.input.kind} lacks ${operation}`);
    await verifyOutput(engine, file, produced);
    return produced;
  } catch (error) {
    throw asRefusal(error, `The ${work.input.format} file could not be processed without loss of content.`);
  }
}

/**
 * Returns the handler's deps: its progress as a share of the whole file's, its tools recorded in `used`, and the prepared
 * tool if it is one for the file's kind.
 */
function recordingDeps(deps: PipelineDeps, used: Set<string>, kind: Kind): EngineDeps {
  const share = PROCESSED_PERCENT - INSPECTED_PERCENT;
  const tool = deps.prepared?.kinds.includes(kind) === true ? deps.prepared : null;
  const recorded = <T>(file: string, start: () => T): T => {
    used.add(file);
    return start();
  };
  return {
    signal: deps.signal,
    onProgress: (percent) => deps.onProgress(INSPECTED_PERCENT + (Math.min(100, Math.max(0, percent)) * share) / 100),
    run: (command) => recorded(command.file, () => deps.run(command)),
    withoutHevc: deps.withoutHevc === true,
    prepared: tool && { ...tool, send: (...request) => recorded(tool.file, () => tool.send(...request)) },
  };
}

function versionsOf(used: ReadonlySet<string>, versions: Readonly<Record<string, string>>): Record<string, string> {
  const names = [...used].flatMap((name) => [name, ...(TOOL_LIBRARIES[name] ?? [])]);
  return Object.fromEntries(names.toSorted().map((name) => [name, versions[name] ?? 'unknown']));
}
