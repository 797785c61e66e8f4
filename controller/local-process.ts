/**
 * One worker process on this machine, in a private directory that is deleted with it. It runs attempts, one at a time.
 *
 *   started ─→ idle ─→ running ─→ reply, outcome in the termination file → ended, idle again
 *                          ╲ ───→ reply without an outcome, exit, killed → lost, or ended when there is an outcome
 *
 * A run is sent over a socket pair, so that its token is in no argument, environment or file. The worker's
 * standard input is a pipe without data. Its end means that the controller has died: the worker then ends its tools and
 * itself. The kernel also sends SIGTERM when the controller dies.
 */
import type { ChildProcess } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import type { Clock } from '#crds/process/clock.ts';
import { RUN_CHANNEL, TERMINATION_NAME } from '#crds/contract/run-files.ts';
import type { RunMessage, RunOutcome } from '#crds/contract/run-spec.ts';
import { readMessageLines, writeJsonLine } from '#crds/process/message-lines.ts';
import type { Log } from '#crds/process/log.ts';
import { removeTree } from '#crds/process/private-files.ts';
import { isAlive, killGroup, killProcessesOf } from '#crds/process/process-tree.ts';
import { isOutOfMemory, oomKills, type Exit } from '#controller/out-of-memory.ts';
import { readTermination } from '#controller/read-termination.ts';
import { STOPPED_RUN, type RunState } from '#controller/runs.ts';
import { spawned, spawnWorker, type LocalProcessOptions } from '#controller/spawn-worker.ts';

/** Final state of a run and the last characters of standard error. */
interface RunEnd {
  readonly status: RunState;
  readonly stderr: string;
}

/** Attempt that the process is running. */
interface CurrentRun {
  readonly name: string;
  readonly onReply: () => void;
  isStopped: boolean;
}

/** Attempt to run, in a directory of that name. */
export type LocalRun = Omit<RunMessage, 'directory'> & { readonly name: string };

const STDERR_CHARACTERS = 2000;
/** Maximum size of a worker's reply, in bytes. */
const REPLY_BYTES = 1000;

export class LocalProcess {
  /** Resolves when the process has ended. */
  readonly exited: Promise<Exit>;
  readonly #child: ChildProcess;
  readonly #channel: Socket;
  readonly #directory: string;
  readonly #stderr: { text: string };
  #runs = 0;
  #tenant: string | null = null;
  #isUsable = true;
  #current: CurrentRun | null = null;

  /** @throws Error when the directory cannot be created or the process cannot be started. */
  static async start(options: LocalProcessOptions, directory: string): Promise<LocalProcess> {
    await removeTree(directory);
    await mkdir(directory, { mode: 0o700 });
    const child = spawnWorker(options, directory);
    const started = new LocalProcess(child, directory);
    await spawned(child).catch(async (error: unknown) => {
      await removeTree(directory);
      throw error;
    });
    return started;
  }

  private constructor(child: ChildProcess, directory: string) {
    this.#child = child;
    this.#directory = directory;
    this.#stderr = captureTail(child);
    this.exited = new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
    this.#channel = child.stdio[RUN_CHANNEL] as Socket;
    // Writing to a process that has just died fails; `exited` reports its end.
    this.#channel.on('error', () => undefined);
    readMessageLines(this.#channel, {
      maxBytes: REPLY_BYTES,
      onLine: () => this.#receiveReply(),
      onTooLong: () => this.#kill(),
    });
  }

  /** Returns the number of runs that were sent to the process. */
  runs(): number {
    return this.#runs;
  }

  /** Returns the tenant of the last run; null: it has run none. */
  tenant(): string | null {
    return this.#tenant;
  }

  /** Returns whether the process may run another attempt: it is alive, and every earlier one left an outcome. */
  isUsable(): boolean {
    return this.#isUsable && isAlive(this.#child);
  }

  /**
   * Runs an attempt. Its files are deleted before this resolves, and its processes, except
   * an engine process that waits for the next document of the tenant.
   */
  async run({ clock, log }: { clock: Clock; log: Log }, { name, tenant, spec }: LocalRun): Promise<RunEnd> {
    const directory = join(this.#directory, name);
    const replied = Promise.withResolvers<null>();
    const current: CurrentRun = { name, onReply: () => replied.resolve(null), isStopped: false };
    const startedAt = clock.now();
    this.#current = current;
    this.#runs += 1;
    this.#tenant = tenant;
    // Until it has left an outcome: a run that cannot be sent is its last.
    this.#isUsable = false;
    await mkdir(directory, { mode: 0o700 });
    const oomKillsBefore = await oomKills();
    const message: RunMessage = { directory, tenant, spec };
    writeJsonLine(this.#channel, message);
    const exit = await Promise.race([replied.promise, this.exited]);
    this.#current = null;
    const outcome = await readTermination(join(directory, TERMINATION_NAME));
    const outOfMemory = exit !== null && isOutOfMemory(exit, (await oomKills()) > oomKillsBefore);
    const isClean = await this.#cleanUp(directory, exit).then(
      () => true,
      (error: unknown) => {
        log.error({ err: error, run: name }, 'run not cleaned up');
        return false;
      },
    );
    this.#isUsable = exit === null && outcome !== null && isClean;
    const status = current.isStopped ? STOPPED_RUN : stateOf({ exit, outcome, outOfMemory, startedAt });
    return { status, stderr: this.takeStderr() };
  }

  /** Returns the last characters that it wrote to standard error since the last call. */
  takeStderr(): string {
    const { text } = this.#stderr;
    this.#stderr.text = '';
    return text;
  }

  /** Kills it with its process group while it runs the attempt of that name. */
  stop(name: string): void {
    if (this.#current?.name !== name || !isAlive(this.#child)) return;
    this.#current.isStopped = true;
    this.#kill();
  }

  /** Kills it with all its processes, and deletes its directory. */
  async close(): Promise<void> {
    this.#kill();
    await this.exited;
    await killProcessesOf(this.#directory);
    await removeTree(this.#directory);
  }

  /** Ends what a worker has left that has exited, and deletes the files of its run. */
  async #cleanUp(directory: string, exit: Exit | null): Promise<void> {
    if (exit !== null) await killProcessesOf(this.#directory);
    await removeTree(directory);
  }

  #receiveReply(): void {
    if (this.#current === null) this.#kill();
    else this.#current.onReply();
  }

  #kill(): void {
    this.#isUsable = false;
    if (isAlive(this.#child) && this.#child.pid !== undefined) killGroup(this.#child.pid);
  }
}

function captureTail(child: ChildProcess): { text: string } {
  const tail = { text: '' };
  child.stderr?.setEncoding('utf8');
  child.stderr?.on('data', (text: string) => {
    tail.text = `${tail.text}${text}`.slice(-STDERR_CHARACTERS);
  });
  return tail;
}

function stateOf({
  exit,
  outcome,
  outOfMemory,
  startedAt,
}: {
  exit: Exit | null;
  outcome: RunOutcome | null;
  outOfMemory: boolean;
  startedAt: Date;
}): RunState {
  if (outcome !== null) return { state: 'ended', startedAt, outcome };
  const how = endOf(exit);
  if (outOfMemory) return { state: 'lost', cause: 'out_of_memory', message: `${how}, out of memory` };
  return { state: 'lost', cause: 'crashed', message: how };
}

function endOf(exit: Exit | null): string {
  if (exit === null) return 'its worker left no outcome';
  return exit.signal === null
    ? `its worker ended with exit code ${exit.code} and without an outcome`
    : `its worker was killed by ${exit.signal}`;
}
