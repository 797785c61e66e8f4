/** Command line, environment and streams of an engine process. */
import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { closeSync } from 'node:fs';
import { getCompileCacheDir } from 'node:module';
import { dirname, join } from 'node:path';
import { bundledScript } from '#crds/process/bundled-script.ts';
import { OWN_MEMORY } from '#worker-image/sandbox/engine-protocol.ts';
import { toolPath } from '#worker-image/tools/find-tool.ts';
import type { Isolation } from '#worker-image/tools/isolation.ts';
import { withInherited } from '#worker-image/tools/run-command.ts';

export interface EngineProcessOptions {
  readonly isolation: Isolation;
  /** Private root directory of the process. */
  readonly directory: string;
  /** Script to run; default: the engine's own. */
  readonly script?: string;
}

const SCRIPT = join(import.meta.dirname, 'child.ts');
/** Maximum JavaScript heap, in MiB. The container limits the memory that libraries allocate outside of it. */
const HEAP_MIB = 1024;
/** Maximum semi-space of V8, in MiB. Without a limit a table that is streamed needs twice the memory. */
const YOUNG_MIB = 8;
/**
 * Settings of glibc's allocator (mallopt(3)). One arena: arenas of threads never return memory, which tripled the
 * memory of a process after some images. Thresholds above an image's buffers: the system zeroes returned memory when it
 * is allocated again, which took a quarter of the time of decoding an AVIF.
 */
const ALLOCATOR = {
  MALLOC_ARENA_MAX: '1',
  MALLOC_MMAP_THRESHOLD_: String(128 * 1024 ** 2),
  MALLOC_TRIM_THRESHOLD_: String(256 * 1024 ** 2),
};

/** Starts the process. It has no pid when it cannot be started. */
export function spawnEngine(options: EngineProcessOptions): ChildProcess {
  const [file = '', ...args] = commandLine(options);
  const filter = options.isolation.openFilter();
  const child = spawn(file, args, spawnOptions(options.directory, filter));
  if (filter !== null) closeSync(filter);
  return child.on('error', () => undefined);
}

function commandLine({ isolation, directory, script = bundledScript(SCRIPT) }: EngineProcessOptions): string[] {
  return [
    // The process ends with its owner, even if the owner is killed.
    'setpriv',
    '--pdeathsig',
    'KILL',
    ...isolation.child(directory),
    process.execPath,
    `--max-old-space-size=${HEAP_MIB}`,
    `--max-semi-space-size=${YOUNG_MIB}`,
    script,
    ...(isolation.ownsMemory ? [OWN_MEMORY] : []),
  ];
}

/** Returns the options, without Node's IPC channel: the owner would parse messages of any size. */
function spawnOptions(directory: string, filter: number | null): SpawnOptions {
  return {
    cwd: directory,
    env: { ...environment(), HOME: directory, TMPDIR: directory },
    stdio: withInherited(['ignore', 'ignore', 'pipe', 'pipe'], filter),
    detached: true,
  };
}

/**
 * Returns the environment. NODE_COMPILE_CACHE is the parent of the folder that `getCompileCacheDir` returns. The image
 * and the supervisor fill that cache (`child.ts --warm`): an engine process starts in a third of the time and with
 * 35 MB less. It never writes to the cache itself, because it is killed.
 */
function environment(): Record<string, string> {
  const cache = getCompileCacheDir();
  const compiled = cache === undefined ? {} : { NODE_COMPILE_CACHE: dirname(cache) };
  return { PATH: toolPath(), LANG: 'C.UTF-8', ...ALLOCATOR, ...compiled };
}
