/**
 * The engine with nothing but its own rules around it: processes without namespaces, on a machine that
 * has something to give away. A loopback server counts who calls, a file tells whether it was read.
 */
import { mkdir, mkdtemp, readdir, readFile, readlink, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ErrorCode } from '#crds/error-codes.ts';
import type { Operation } from '#crds/formats.ts';
import { MediaError } from '#crds/media-error.ts';
import { parseJsonOptions, resolveOptions, type SentOptions } from '#crds/options/options.ts';
import { fileLimits } from '#crds/plans.ts';
import type { EngineResult } from '#crds/result.ts';
import { startChildPool } from '#worker-image/engine/child-pool.ts';
import type { Isolation } from '#worker-image/tools/isolation.ts';

/** Words of the file that nothing may read. */
export const SECRET = 'canary-7c1e5f0a-of-the-machine';
const NO_WALLS: Isolation = { tool: [], child: () => [], ownsProcesses: false, seesOnlyHome: false, summary: 'none' };
/** A file that takes longer, on a machine that does much else, has made the engine hang. */
const HANG_SECONDS = 150;

export interface Attack {
  readonly filename: string;
  readonly bytes: Buffer;
  readonly operation: Operation;
  readonly options?: SentOptions;
}

export interface Outcome {
  readonly code: ErrorCode | 'done';
  /** Of the refusal. */
  readonly message: string;
  readonly result: EngineResult | null;
  /** The output. */
  readonly bytes: Buffer;
}

/** What a hostile file may point to. */
export interface Bait {
  /** `http://127.0.0.1:…/name`. */
  url(name: string): string;
  /** The secret file, as a path and as a `file:` address. */
  readonly path: string;
  readonly fileUrl: string;
  /** A file that does not exist; a macro or program that runs would make it. */
  readonly unwritten: string;
}

export interface AttackedEngine {
  readonly bait: Bait;
  send(attack: Attack): Promise<Outcome>;
  /** Paths that were asked of the loopback server. */
  readonly calls: () => readonly string[];
  /** What shows that a file reached out of its place; empty when nothing did. */
  traces(): Promise<string[]>;
  close(): Promise<void>;
}

/** Starts the engine and its bait. */
export async function startAttackedEngine(children = 2): Promise<AttackedEngine> {
  const root = await mkdtemp(join(tmpdir(), 'hostile-'));
  const [home, work, trap] = [join(root, 'home'), join(root, 'work'), join(root, 'trap')];
  await Promise.all([home, work, trap].map((path) => mkdir(path)));
  const { server, calls } = await startCanary();
  const bait = await layBait(trap, (server.address() as AddressInfo).port);
  const pool = startChildPool({ isolation: NO_WALLS, directory: home, children, queue: 1000, filesPerChild: 50 });
  let sent = 0;
  return {
    bait,
    calls: () => calls,
    send: async (attack) => {
      sent += 1;
      const directory = join(work, String(sent));
      await mkdir(directory);
      try {
        return await attackPool(pool, directory, attack);
      } finally {
        await rm(directory, { recursive: true, maxRetries: 5 });
      }
    },
    traces: async () => tracesOf({ calls, bait, home, work }),
    close: async () => {
      await pool.close();
      server.closeAllConnections();
      server.close();
      await rm(root, { recursive: true, maxRetries: 5 });
    },
  };
}

async function attackPool(
  pool: ReturnType<typeof startChildPool>,
  directory: string,
  { filename, bytes, operation, options = {} }: Attack,
): Promise<Outcome> {
  const path = join(directory, 'input');
  await writeFile(path, bytes);
  try {
    const file = await pool.process({
      tenant: 'attacker',
      task: {
        operation,
        options: resolveOptions(parseJsonOptions(options)),
        limits: fileLimits('payg'),
        features: { video: true, heicOutput: true },
        lane: 'job',
        path,
        filename,
        directory,
      },
      versions: {},
      onProgress: () => undefined,
      signal: AbortSignal.timeout(HANG_SECONDS * 1000),
    });
    return { code: 'done', message: '', result: file.report.result, bytes: await readFile(file.path) };
  } catch (error) {
    if (!(error instanceof MediaError)) throw error;
    return { code: error.code, message: error.message, result: null, bytes: Buffer.alloc(0) };
  }
}

/** Answers with a picture, so that whoever calls has a reason to call again. */
async function startCanary(): Promise<{ server: Server; calls: string[] }> {
  const calls: string[] = [];
  const server = createServer((request, response) => {
    calls.push(request.url ?? '');
    response.end(SECRET);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, calls };
}

async function layBait(trap: string, port: number): Promise<Bait> {
  const path = join(trap, 'secret.txt');
  await writeFile(path, `${SECRET}\n`);
  await makeUnread(path);
  return {
    url: (name) => `http://127.0.0.1:${port}/${name}`,
    path,
    fileUrl: pathToFileURL(path).href,
    unwritten: join(trap, 'written'),
  };
}

/** Linux notes the time of a read when it was older than the last change. */
async function makeUnread(path: string): Promise<void> {
  await utimes(path, new Date(0), (await stat(path)).mtime);
}

export async function wasRead(path: string): Promise<boolean> {
  return (await stat(path)).atimeMs !== 0;
}

async function tracesOf(at: { calls: readonly string[]; bait: Bait; home: string; work: string }): Promise<string[]> {
  const isThere = await stat(at.bait.unwritten).then(
    () => true,
    () => false,
  );
  return [
    ...at.calls.map((path) => `called ${path}`),
    ...((await wasRead(at.bait.path)) ? ['read the secret file'] : []),
    ...(isThere ? ['ran a program of the file'] : []),
    ...(await readdir(at.work)).map((name) => `left the directory of file ${name} behind`),
    ...(await leftIn(at.home)).map((name) => `left ${name} at the home of a process`),
    ...(await processesIn(at.work)).map((line) => `left a process running: ${line}`),
  ];
}

/** What lies in the homes of the processes, one folder each. */
async function leftIn(folder: string): Promise<string[]> {
  const homes = await readdir(folder);
  const names = await Promise.all(homes.map((home) => readdir(join(folder, home)).catch(() => [])));
  return names.flat();
}

/** Command lines of processes that work below the directory, be it removed by now. */
async function processesIn(directory: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(
    pids.map(async (pid) => {
      const place = await readlink(`/proc/${pid}/cwd`).catch(() => '');
      return place.startsWith(directory) ? [await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => pid)] : [];
    }),
  );
  return lines.flat().map((line) => line.replaceAll('\0', ' '));
}
