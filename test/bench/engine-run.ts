/** One file through a fresh engine process, as a job has it: seconds, and the memory of its whole tree. */
import { copyFile, link, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { enableCompileCache } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { CODE_CACHE } from '#api/embedded/code-cache.ts';
import { warmCodeCache } from '#api/embedded/warm-code-cache.ts';
import { kindOfName, type Operation } from '#crds/catalogue/formats.ts';
import { parseJsonOptions, resolveOptions, type SentOptions } from '#crds/catalogue/options/options.ts';
import { makeLog } from '#crds/process/log.ts';
import { SandboxedEngine } from '#worker-image/sandbox/sandboxed-engine.ts';
import type { ProcessedFile } from '#worker-image/engine/process-file.ts';
import { probeIsolation } from '#worker-image/tools/isolation.ts';

export interface EngineTask {
  readonly path: string;
  readonly operation: Operation;
  readonly options: SentOptions;
  /** Looking at every process of the machine takes some per cent of a core: not while seconds count. */
  readonly watchesMemory?: boolean;
  /** The process is started before its time counts, as that of a job, which waits for its file. */
  readonly isStartedAhead?: boolean;
}

export interface EngineRun {
  readonly seconds: number;
  /** The most that the processes held together, in MiB; pages that they share count in each. 0 when not watched. */
  readonly peakMib: number;
  readonly report: ProcessedFile['report'];
}

const LIMITS = { maxPixels: 100_000_000, maxPages: 2000, maxFrames: 2000, maxSeconds: 10_800 };
const SAMPLE_MS = 250;
/** Time in which a process starts and loads the code of a kind. */
const START_MS = 1000;

// As in a running service, where both are done once at its start.
enableCompileCache(CODE_CACHE);
await warmCodeCache([]);
const isolation = await probeIsolation();

/** @param look is given the result before it is removed. */
export async function runInEngine(
  { path, operation, options, watchesMemory = false, isStartedAhead = false }: EngineTask,
  look: (path: string) => Promise<void> = async () => {},
): Promise<EngineRun> {
  const folder = await mkdtemp(join(tmpdir(), 'mediajobs-bench-'));
  const directory = join(folder, 'task');
  const input = join(directory, 'input');
  await mkdir(directory);
  await link(path, input).catch(() => copyFile(path, input));
  let startedAt = performance.now();
  const child = new SandboxedEngine({ log: makeLog('bench', 'warn') }, { isolation, folder });
  const kind = kindOfName(basename(path));
  if (isStartedAhead && kind !== null) {
    child.expect(kind);
    await delay(START_MS);
    startedAt = performance.now();
  }
  let peak = 0;
  const watch = (): void => {
    void treeMib(child.pid).then((mib) => (peak = Math.max(peak, mib)));
  };
  const timer = watchesMemory ? setInterval(watch, SAMPLE_MS) : undefined;
  try {
    const file = await child.process({
      task: {
        path: input,
        directory,
        operation,
        filename: basename(path),
        lane: 'job',
        limits: LIMITS,
        features: {
          video: true,
          heicOutput: true,
        },
        options: resolveOptions(parseJsonOptions(options)),
      },
      versions: {},
      onProgress: () => {},
      signal: new AbortController().signal,
    });
    const seconds = (performance.now() - startedAt) / 1000;
    await using output = file.output;
    const made = join(folder, 'output');
    await writeFile(made, output.createReadStream({ autoClose: false }));
    await look(made);
    return { seconds, peakMib: peak, report: file.report };
  } finally {
    clearInterval(timer);
    await child.kill();
    await rm(folder, { recursive: true });
  }
}

/** Resident memory of a process and all below it. */
async function treeMib(root: number): Promise<number> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const processes = await Promise.all(pids.map((pid) => readProcess(Number(pid))));
  const alive = processes.filter((one) => one !== null);
  const members = new Set([root]);
  // Parents come before their children by number, unless the numbers have started again.
  for (const { pid, parent } of alive.toSorted((one, other) => one.pid - other.pid))
    if (members.has(parent)) members.add(pid);
  return alive.filter(({ pid }) => members.has(pid)).reduce((sum, { mib }) => sum + mib, 0);
}

async function readProcess(pid: number): Promise<{ pid: number; parent: number; mib: number } | null> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  if (status === '') return null;
  const value = (field: string): number => Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);
  return { pid, parent: value('PPid'), mib: value('VmRSS') / 1024 };
}
