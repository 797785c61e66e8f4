/** Separate service of one test, started as by an operator. The test may kill and restart it. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect } from 'vitest';
import { readConnection } from '#api/embedded/connection.ts';
import { runService, type RunningService } from '#api/embedded/run-service.ts';
import { makeDatabase } from '#api/store/database.ts';
import { makeLog } from '#crds/process/log.ts';
import { makeApiClient, type ApiClient } from '#test/support/api-client.ts';
import { authorityFile } from '#test/support/receiver.ts';
import { processesOf, type ProcessRole, type ServiceProcess } from '#test/support/service-processes.ts';

export interface OwnService {
  readonly data: string;
  /** Address of the running service. */
  readonly baseUrl: () => string;
  /** Client with a live key of an account with every feature. */
  readonly api: () => ApiClient;
  /** Output so far, by lines. */
  readonly problems: readonly string[];
  readonly query: (sql: string, values?: unknown[]) => Promise<Record<string, any>[]>;
  readonly processes: () => ServiceProcess[];
  /** Kills the one process of that role, or of those of that role that work on a job. */
  readonly kill: (role: ProcessRole, which?: { ofJob?: boolean }) => number;
  readonly pid: () => number;
  /** Resolves with the exit code of the running service; null after a signal. */
  readonly ended: () => Promise<number | null>;
  /** Starts it again after its end, by default with the code of this checkout. */
  readonly restart: (code?: string) => Promise<void>;
}

const run = promisify(execFile);
const CHECKOUT = path.join(import.meta.dirname, '../..');

/** Starts a service that is stopped and removed after the file's tests. `code` is the folder of its code. */
export async function startOwnService(
  settings: Readonly<Record<string, string>> = {},
  code = CHECKOUT,
): Promise<OwnService> {
  const data = await mkdtemp(path.join(tmpdir(), 'mediajobs-crash-'));
  const problems: string[] = [];
  const all = { MEDIAJOBS_PRIVATE_TARGETS: '127.0.0.0/8', MEDIAJOBS_EXTRA_CA_FILE: authorityFile(), ...settings };
  const start = (from: string): Promise<RunningService> =>
    runService({
      data,
      script: path.join(from, 'api/embedded.ts'),
      settings: { ...all, NODE_COMPILE_CACHE: path.join(from, 'node_modules/.cache/mediajobs') },
      onProblem: (line) => problems.push(line),
    });
  let running = await start(code);
  const key = await liveKey(data, path.join(code, 'api/mediactl.ts'));
  let api = makeApiClient(running, key);
  const database = makeDatabase({
    url: readConnection(data)?.DATABASE_URL ?? '',
    log: makeLog('test', 'silent'),
    maxConnections: 2,
  });
  afterAll(async () => {
    await Promise.all([api.close(), database.close()]);
    await running.stop();
    expect(processesOf(data)).toEqual([]);
    await rm(data, { recursive: true, force: true });
  });
  return {
    data,
    baseUrl: () => running.baseUrl,
    api: () => api,
    problems,
    query: async (sql, values = []) => (await database.query<Record<string, any>>(sql, values)).rows,
    processes: () => processesOf(data),
    kill: (role, which = {}) => killOne(data, role, which),
    pid: () => running.pid,
    ended: () => running.ended,
    restart: async (from = CHECKOUT) => {
      running = await start(from);
      await api.close();
      api = makeApiClient(running, key);
    },
  };
}

async function liveKey(data: string, script: string): Promise<string> {
  const mediactl = async (...words: string[]): Promise<Record<string, unknown>> => {
    const { stdout } = await run(process.execPath, [script, '--data', data, ...words, '--json']);
    return JSON.parse(stdout) as Record<string, unknown>;
  };
  const account = await mediactl(
    'account',
    'create',
    '--name',
    'test',
    '--plan',
    'growth',
    '--payment-method',
    '--feature',
    'video',
  );
  const key = await mediactl('key', 'create', '--account', String(account['id']), '--mode', 'live', '--name', 'test');
  return String(key['key']);
}

function killOne(data: string, role: ProcessRole, { ofJob = false }: { ofJob?: boolean }): number {
  const found = processesOf(data).filter((one) => one.role === role && one.ofJob === ofJob);
  const [victim] = found;
  if (victim === undefined)
    throw new Error(
      `no ${role} runs, but ${processesOf(data)
        .map((one) => one.role)
        .join(', ')}`,
    );
  process.kill(victim.pid, 'SIGKILL');
  return victim.pid;
}
