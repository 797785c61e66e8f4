/** Start of a worker process on this machine, with what it sees of its surroundings. */
import { spawn, type ChildProcess } from 'node:child_process';
import { TRIED_ISOLATION } from '#crds/contract/run-files.ts';

export interface LocalProcessOptions {
  /** The worker's script, `worker-image/serve-attempts.ts`. */
  readonly script: string;
  /** Node executable; default: that of this process. */
  readonly execPath?: string;
  /** PATH of the worker and its tools. */
  readonly path: string;
  /** Folder of Node's compile cache, which makes a worker start faster. */
  readonly compileCache?: string;
  /** `MEDIAJOBS_ISOLATION`; default `auto`. */
  readonly isolation?: string;
  /** Returns the isolation level that `tryIsolation` has found; default and null: each worker tries the levels. */
  readonly triedIsolation?: () => string | null;
  /** True to keep LibreOffice ready after an office document; default: false. */
  readonly officeReady?: boolean;
  /** `MEDIAJOBS_FAULTS_DIR`, for tests. */
  readonly faultsDir?: string;
  /** Destination of the worker's log; default: standard output of this process. */
  readonly stdout?: 'inherit' | 'ignore';
}

/** Starts the worker in its private directory. It ends with this process. */
export function spawnWorker(options: LocalProcessOptions, directory: string): ChildProcess {
  const node = options.execPath ?? process.execPath;
  return spawn('setpriv', ['--pdeathsig', 'TERM', '--', node, options.script], {
    cwd: directory,
    env: environment(options, directory),
    detached: true,
    // The fourth one is RUN_CHANNEL, a socket pair.
    stdio: ['pipe', options.stdout ?? 'inherit', 'pipe', 'pipe'],
  });
}

function environment(options: LocalProcessOptions, directory: string): NodeJS.ProcessEnv {
  return {
    PATH: options.path,
    HOME: directory,
    TMPDIR: directory,
    LANG: 'C.UTF-8',
    NODE_COMPILE_CACHE: options.compileCache,
    MEDIAJOBS_ISOLATION: options.isolation,
    [TRIED_ISOLATION]: options.triedIsolation?.() ?? undefined,
    MEDIAJOBS_OFFICE_READY: options.officeReady === true ? '1' : undefined,
    MEDIAJOBS_FAULTS_DIR: options.faultsDir,
  };
}

/** Resolves when the process has started. @throws Error when it cannot be started. */
export function spawned(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', reject);
  });
}
