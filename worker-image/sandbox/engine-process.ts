/**
 * The owner's side of one engine process.
 *
 *   starting → idle ⇄ running → ended
 *
 * A file that makes the process crash is refused. After an abort the process has one second to end its tools; then it
 * is killed with everything that it started. Its messages are not trusted: a violation of `engine-channel.ts` ends it.
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { Kind } from '#crds/catalogue/formats.ts';
import type { WorkerReport } from '#crds/contract/media-job.ts';
import type { Log } from '#crds/process/log.ts';
import { isAlive, killDescendants, killGroup } from '#crds/process/process-tree.ts';
import { boundedText } from '#worker-image/engine/bounded-text.ts';
import { CHANNEL } from '#worker-image/sandbox/engine-protocol.ts';
import { withCpuWatch } from '#worker-image/sandbox/cpu-watch.ts';
import { crash, EngineChannel, type WorkListener } from '#worker-image/sandbox/engine-channel.ts';
import type { FileTask } from '#worker-image/engine/process-file.ts';
import { spawnEngine, type EngineProcessOptions } from '#worker-image/sandbox/spawn-engine.ts';
import { MissingTool } from '#worker-image/tools/find-tool.ts';

export interface ChildInput {
  readonly task: FileTask;
  readonly versions: Readonly<Record<string, string>>;
  readonly onProgress: (percent: number) => void;
  readonly signal: AbortSignal;
}

export interface EngineProcessDeps {
  readonly log: Pick<Log, 'warn'>;
}

/** Time between an abort and SIGKILL, in milliseconds. */
const ABORT_GRACE_MS = 1000;
/** Maximum wait for the last messages of an ended process, in milliseconds: descendants may hold the channel open. */
const DRAIN_MS = 1000;

/**
 * Starts an engine process in a private directory, without the owner's environment and with the isolation that the
 * machine allows.
 */
export class EngineProcess {
  readonly pid: number;
  /** Resolves when the process has ended. */
  readonly ended: Promise<void>;
  readonly #deps: EngineProcessDeps;
  readonly #options: EngineProcessOptions;
  readonly #child: ChildProcess;
  readonly #channel: Socket;
  readonly #messages: EngineChannel;
  readonly #stderr: () => string;
  #killing: Promise<void> | null = null;
  #files = 0;

  constructor(deps: EngineProcessDeps, options: EngineProcessOptions) {
    this.#deps = deps;
    this.#options = options;
    this.#child = spawnEngine(options);
    const { pid } = this.#child;
    if (pid === undefined)
      throw new MissingTool(
        `An engine process cannot be started: ${this.#child.spawnfile} is not installed on this machine.`,
      );
    this.pid = pid;
    this.#channel = this.#child.stdio[CHANNEL] as Socket;
    this.#stderr = boundedText(this.#child.stderr);
    this.#messages = new EngineChannel({ ...deps, pid, onBreach: () => void this.kill() }, this.#channel);
    this.ended = this.#end();
    breachWhenSilent(this.#child, this.#channel, this.#messages);
  }

  /** Returns the number of files that were sent to the process. */
  files(): number {
    return this.#files;
  }

  /** Returns the resident memory that the process reported after its last file, in bytes. */
  rssBytes(): number {
    return this.#messages.rssBytes();
  }

  /** Returns whether it must not open another file: tools left files that the next one would find, or a tool has failed. */
  mustBeReplaced(): boolean {
    return this.#messages.mustBeReplaced();
  }

  /** Returns why the process has ended; null while it runs. */
  end(): Error | null {
    return isAlive(this.#child) ? null : crash(this.#child.exitCode, this.#child.signalCode);
  }

  /** Returns whether the process violated its protocol: none of its results may be used. */
  isBreached(): boolean {
    return this.#messages.isBreached();
  }

  /** Announces the kind of the next file, so that the process loads the kind's code meanwhile. */
  expect(kind: Kind): void {
    this.#messages.send({ type: 'expect', kind });
  }

  /**
   * Processes one file; one at a time. The report is bounded in size, but not yet checked.
   * @throws MediaError for a refused file, and when the file made the process crash, violate its protocol or exceed
   * its CPU budget; the signal's reason on abort, once its tools have ended; EngineKilled when the system killed it.
   */
  async process(input: ChildInput): Promise<WorkerReport> {
    this.#files += 1;
    return withCpuWatch({
      pid: this.pid,
      path: input.task.path,
      signal: input.signal,
      work: (watched) => this.#run({ ...input, ...watched }),
    }).finally(() => this.#logStderr());
  }

  /** Ends the process with everything that it started. */
  async kill(): Promise<void> {
    this.#channel.destroy();
    if (isAlive(this.#child) && this.#options.isolation.ownsProcesses) killGroup(this.pid);
    else if (isAlive(this.#child)) this.#killing ??= this.#killAll();
    await this.ended;
  }

  async #run(input: ChildInput & WorkListener): Promise<WorkerReport> {
    const { signal, task, versions } = input;
    signal.throwIfAborted();
    const outcome = this.#messages.outcome(input);
    const aborted = once(signal, 'abort').then(() => 'aborted' as const);
    this.#messages.send({ type: 'process', task, versions });
    const first = await Promise.race([outcome, aborted]);
    if (first !== 'aborted') return first;
    this.#messages.send({ type: 'abort' });
    const timer = setTimeout(() => void this.kill(), ABORT_GRACE_MS);
    await outcome.catch(() => undefined);
    clearTimeout(timer);
    await this.kill();
    throw signal.reason;
  }

  async #end(): Promise<void> {
    const { code, signal } = await endOf(this.#child, this.#channel);
    await (this.#killing ?? this.#killAll());
    this.#logStderr();
    this.#messages.fail(crash(code, signal));
  }

  async #killAll(): Promise<void> {
    const { isolation, directory } = this.#options;
    const survivors = isolation.ownsProcesses ? [] : await killDescendants({ root: this.pid, directory });
    if (survivors.length > 0) this.#deps.log.warn({ pid: this.pid, survivors }, 'processes survive SIGKILL');
  }

  #logStderr(): void {
    const stderr = this.#stderr();
    if (stderr !== '') this.#deps.log.warn({ pid: this.pid, stderr }, 'engine process wrote to standard error');
  }
}

/** Resolves when the process has ended and its messages are read. */
async function endOf(
  child: ChildProcess,
  channel: Socket,
): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  const end = await exited;
  if (channel.destroyed) return end;
  const timer = setTimeout(() => channel.destroy(), DRAIN_MS);
  await new Promise((resolve) => channel.once('close', resolve));
  clearTimeout(timer);
  return end;
}

/** Ends a process that closes its channel without exiting: it would never answer. */
function breachWhenSilent(child: ChildProcess, channel: Socket, messages: EngineChannel): void {
  const wait = (): void => {
    if (!isAlive(child)) return;
    const timer = setTimeout(() => messages.breach('the end of its messages'), DRAIN_MS);
    child.once('exit', () => clearTimeout(timer));
  };
  channel.once('end', wait);
  channel.once('error', wait);
}
