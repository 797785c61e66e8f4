/**
 * The engine without operating system isolation: processes without namespaces. A loopback server records requests, and
 * the access time of a secret file shows whether it was read.
 */
import { mkdir, mkdtemp, readdir, readFile, readlink, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ErrorCode } from '#crds/contract/error-codes.ts';
import type { Operation } from '#crds/catalogue/formats.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import { parseJsonOptions, resolveOptions, type SentOptions } from '#crds/catalogue/options/options.ts';
import { fileLimits } from '#crds/catalogue/plans.ts';
import type { EngineResult } from '#crds/contract/result.ts';
import { makeLog } from '#crds/process/log.ts';
import { ChildPool } from '#worker-image/sandbox/child-pool.ts';
import { NO_ISOLATION } from '#worker-image/tools/isolation.ts';

/** Content of the file that no process may read. */
export const SECRET = 'canary-7c1e5f0a-of-the-machine';
/** Timeout after which a file counts as hanging the engine, in seconds. Generous for a busy machine. */
const HANG_SECONDS = 150;

export interface Attack {
  readonly filename: string;
  readonly bytes: Buffer;
  readonly operation: Operation;
  readonly options?: SentOptions;
}

export interface AttackOutcome {
  readonly code: ErrorCode | 'done';
  /** Message of the refusal. */
  readonly message: string;
  readonly result: EngineResult | null;
  /** Bytes of the output. */
  readonly bytes: Buffer;
}

/** Addresses and paths that a hostile file refers to. */
export interface Bait {
  /** Returns an address of the loopback server: `http://127.0.0.1:…/name`. */
  url(name: string): string;
  /** Path of the secret file; `fileUrl` is its `file:` address. */
  readonly path: string;
  readonly fileUrl: string;
  /** Path of a missing file that a macro or program would create. */
  readonly unwritten: string;
}

export interface AttackedEngine {
  readonly bait: Bait;
  send(attack: Attack): Promise<AttackOutcome>;
  /** Returns the paths that were requested from the loopback server. */
  readonly calls: () => readonly string[];
  /** Returns descriptions of accesses outside the private folders; empty when there were none. */
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
  const pool = new ChildPool({
    log: makeLog('hostile', 'warn'),
    isolation: NO_ISOLATION,
    directory: home,
    children,
    queue: 1000,
    extra: 0,
    filesPerChild: 50,
  });
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
        await rm(directory, { recursive: true, force: true, maxRetries: 5 });
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
  pool: ChildPool,
  directory: string,
  { filename, bytes, operation, options = {} }: Attack,
): Promise<AttackOutcome> {
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
    await using output = file.output;
    return { code: 'done', message: '', result: file.report.result, bytes: await output.readFile() };
  } catch (error) {
    if (!(error instanceof MediaError)) throw error;
    return { code: error.code, message: error.message, result: null, bytes: Buffer.alloc(0) };
  }
}

/** Starts the loopback server. Responds with an image, so that a client may request more. */
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

/** Sets the access time before the modification time: Linux then updates it at the next read. */
async function makeUnread(path: string): Promise<void> {
  await utimes(path, new Date(0), (await stat(path)).mtime);
}

export async function wasRead(path: string): Promise<boolean> {
  return (await stat(path)).atimeMs !== 0;
}

async function tracesOf(at: { calls: readonly string[]; bait: Bait; home: string; work: string }): Promise<string[]> {
  const exists = await stat(at.bait.unwritten).then(
    () => true,
    () => false,
  );
  return [
    ...at.calls.map((path) => `called ${path}`),
    ...((await wasRead(at.bait.path)) ? ['read the secret file'] : []),
    ...(exists ? ['ran a program of the file'] : []),
    ...(await readdir(at.work)).map((name) => `left the directory of file ${name} behind`),
    ...(await remainingFiles(at.home)).map((name) => `left ${name} at the home of a process`),
    ...(await processesIn(at.work)).map((line) => `left a process running: ${line}`),
  ];
}

/** Returns the files in the home folders of the engine processes. */
async function remainingFiles(folder: string): Promise<string[]> {
  const homes = await readdir(folder);
  const names = await Promise.all(homes.map((home) => readdir(join(folder, home)).catch(() => [])));
  return names.flat();
}

/** Returns the command lines of processes whose working directory is below the directory, even if it was removed. */
async function processesIn(directory: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(
    pids.map(async (pid) => {
      const folder = await readlink(`/proc/${pid}/cwd`).catch(() => '');
      return folder.startsWith(directory) ? [await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => pid)] : [];
    }),
  );
  return lines.flat().map((line) => line.replaceAll('\0', ' '));
}
