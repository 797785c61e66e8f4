/**
 * An engine process with a private root directory, the only one in which it opens callers' files. The process starts
 * before its files are known: the directory of each task is moved into the root directory while the task runs. A
 * process that leaves files anywhere else is ended.
 *
 * The owner opens the output by its own descriptors (`private-files.ts`) and checks the report against the input.
 */
import { mkdtempSync, renameSync, rmdirSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import type { Kind } from '#crds/catalogue/formats.ts';
import { findContradiction } from '#crds/contract/find-contradiction.ts';
import type { WorkerReport } from '#crds/contract/media-job.ts';
import { ForeignFile, nameFile, openNamed, type Descriptor, type OpenFile } from '#crds/process/checked-file.ts';
import { OUTPUT_NAME } from '#worker-image/sandbox/engine-protocol.ts';
import { EngineKilled, refusedFile } from '#worker-image/sandbox/engine-channel.ts';
import { EngineProcess, type ChildInput, type EngineProcessDeps } from '#worker-image/sandbox/engine-process.ts';
import type { EngineProcessOptions } from '#worker-image/sandbox/spawn-engine.ts';
import { isEmptyDirectory, openDirectory, pathIn, removeContents, removeTree } from '#crds/process/private-files.ts';

export interface EngineOutput {
  /** Output, or the input when the original is kept; open for reading. The caller closes it. */
  readonly output: FileHandle;
  /** Size of the output, in bytes. */
  readonly size: number;
  readonly report: WorkerReport;
}

export interface SandboxedEngineOptions extends Omit<EngineProcessOptions, 'directory'> {
  /** Private folder for the root directory, on the file system of the tasks' directories. */
  readonly folder: string;
}

/** Name of a task's directory in the root directory. */
const TASK_DIRECTORY = 'file';
/** Error codes of `rename` when the engine process has created an entry of that name. */
const OCCUPIED: ReadonlySet<string | undefined> = new Set(['ENOTEMPTY', 'EEXIST', 'ENOTDIR']);
/** Maximum number of files that a task may leave in its directory before its process is replaced. */
const MAX_LEFT_FILES = 2000;
/** Maximum size of an output, in bytes: as large as a tool may write (RLIMIT_FSIZE). */
const MAX_OUTPUT_BYTES = 16 * 1024 ** 3;

/** Directory and input of one task, held open by the owner. */
interface OpenTask extends Disposable {
  readonly directory: Descriptor;
  readonly input: Descriptor;
  readonly inputSize: number;
}

/** Starts a process with a root directory in the folder, which is removed with the process. */
export class SandboxedEngine {
  readonly #deps: EngineProcessDeps;
  readonly #process: EngineProcess;
  readonly #path: string;
  /** Opened before the process has read any file: it cannot replace the path earlier. */
  readonly #root: Descriptor;
  readonly #removed: Promise<void>;
  #running: Promise<unknown> = Promise.resolve();

  constructor(deps: EngineProcessDeps, { folder, ...options }: SandboxedEngineOptions) {
    this.#deps = deps;
    this.#path = mkdtempSync(join(folder, 'work-'));
    this.#root = openDirectory(this.#path);
    this.#process = new EngineProcess(deps, { ...options, directory: this.#path });
    this.#removed = this.#process.ended
      .then(() => this.#running)
      .then(() => this.#removeRoot())
      .catch((error: unknown) => deps.log.warn({ err: error }, 'root directory of an engine process not removed'));
  }

  get pid(): number {
    return this.#process.pid;
  }

  /** Resolves when the process has ended. */
  get ended(): Promise<void> {
    return this.#process.ended;
  }

  /** Returns the number of files that were sent to the process. */
  files(): number {
    return this.#process.files();
  }

  /** Returns the resident memory that the process reported after its last file, in bytes. */
  rssBytes(): number {
    return this.#process.rssBytes();
  }

  /** Returns whether the process violated its protocol: none of its results may be used. */
  isBreached(): boolean {
    return this.#process.isBreached();
  }

  /** Announces the kind of the next file, so that the process loads the kind's code meanwhile. */
  expect(kind: Kind): void {
    this.#process.expect(kind);
  }

  /**
   * Processes one file; one at a time. The task's directory holds the input alone, and is removed before this returns.
   * @throws what `EngineProcess.process` throws; processing_failed when its output or report violates a rule.
   */
  process(input: ChildInput): Promise<EngineOutput> {
    const running = this.#processTask(input);
    this.#running = running.catch(() => undefined);
    return running;
  }

  /** Ends the process with everything that it started, and removes its root directory. */
  async kill(): Promise<void> {
    await this.#process.kill();
    await this.#removed;
  }

  async #processTask(input: ChildInput): Promise<EngineOutput> {
    const end = this.#process.end();
    if (end !== null) throw new EngineKilled(`the engine process had ended before the file: ${end.message}`);
    using task = openTask(input);
    try {
      return await this.#run(task, input);
    } finally {
      await this.#clear(task.directory).catch((error: unknown) => this.#endUncleared(error));
    }
  }

  async #run(opened: OpenTask, input: ChildInput): Promise<EngineOutput> {
    const { task } = input;
    this.#moveIn(task.directory);
    const directory = join(this.#path, TASK_DIRECTORY);
    const path = join(directory, basename(task.path));
    const report = await this.#process.process({ ...input, task: { ...task, directory, path } });
    const { handle: output, size } = await this.#openOutput(opened, report.result.kept_original);
    try {
      this.#refuseContradiction(report, input, { inputSize: opened.inputSize, outputSize: size });
      return { output, size, report };
    } catch (error) {
      await output.close();
      throw error;
    }
  }

  /** Moves the task's directory into the root directory. */
  #moveIn(directory: string): void {
    try {
      renameSync(directory, pathIn(this.#root, TASK_DIRECTORY));
    } catch (error) {
      if (!OCCUPIED.has((error as NodeJS.ErrnoException).code)) throw error;
      throw this.#distrust(`${TASK_DIRECTORY} is in its root directory already`);
    }
  }

  /** Opens the output, which must belong to the user of the process: the owner of the root directory. */
  async #openOutput({ directory, input }: OpenTask, isInput: boolean): Promise<OpenFile> {
    try {
      if (isInput) return await openNamed(input);
      const { uid } = this.#root.stat();
      using output = nameFile(pathIn(directory, OUTPUT_NAME), { uid, maxBytes: MAX_OUTPUT_BYTES, onlyName: true });
      return await openNamed(output);
    } catch (error) {
      if (!(error instanceof ForeignFile)) throw error;
      throw this.#distrust(error.message);
    }
  }

  #refuseContradiction(
    report: WorkerReport,
    input: ChildInput,
    sizes: { readonly inputSize: number; readonly outputSize: number },
  ): void {
    if (this.#process.isBreached()) throw refusedFile('the engine process violated its protocol after its report');
    const unknown = Object.entries(report.tools).find(([name, version]) => version !== versionOf(input, name));
    if (unknown !== undefined) throw this.#distrust(`its version of ${unknown[0]} is not the one of this machine`);
    const contradiction = findContradiction(report, { ...input.task, ...sizes });
    if (contradiction !== null) throw this.#distrust(`its report violates a rule: ${contradiction}`);
  }

  #distrust(reason: string): Error {
    this.#deps.log.warn({ pid: this.pid, reason }, 'output or report of an engine process rejected');
    void this.#process.kill();
    return refusedFile(reason);
  }

  /** Removes the task's files. Ends the process when it left others that the next task could find. */
  async #clear(directory: Descriptor): Promise<void> {
    const isCleared = await removeContents(directory, MAX_LEFT_FILES);
    this.#removeTaskDirectory();
    if (isCleared && !this.#process.mustBeReplaced() && isEmptyDirectory(this.#root)) return;
    await this.#process.kill();
    await removeContents(directory);
  }

  /** Removes the task's directory if it is empty. */
  #removeTaskDirectory(): void {
    try {
      rmdirSync(pathIn(this.#root, TASK_DIRECTORY));
    } catch {
      // What is left is found by `isEmptyDirectory`.
    }
  }

  async #endUncleared(error: unknown): Promise<void> {
    this.#deps.log.warn({ err: error, pid: this.pid }, 'root directory of an engine process not cleared');
    await this.#process.kill();
  }

  async #removeRoot(): Promise<void> {
    {
      using root = this.#root;
      await removeContents(root);
    }
    await removeTree(this.#path);
  }
}

/** Opens a task's directory and input before the process can reach them. */
function openTask({ task }: ChildInput): OpenTask {
  if (relative(task.directory, dirname(task.path)) !== '')
    throw new RangeError(`${task.path} is not directly in ${task.directory}`);
  const directory = openDirectory(task.directory);
  try {
    const { uid } = directory.stat();
    const input = nameFile(pathIn(directory, basename(task.path)), { uid, maxBytes: Infinity, onlyName: false });
    const close = (): void => [input, directory].forEach((one) => one[Symbol.dispose]());
    return { directory, input, inputSize: input.stat().size, [Symbol.dispose]: close };
  } catch (error) {
    directory[Symbol.dispose]();
    throw error;
  }
}

function versionOf({ versions }: ChildInput, name: string): string {
  return Object.hasOwn(versions, name) ? (versions[name] ?? '') : 'unknown';
}
