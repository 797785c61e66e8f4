/** Prints what a service on this machine takes: memory at rest, time to a job's start, the direct lane beside sharp alone. */
import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { readConnection } from '#api/embedded/connection.ts';
import { runService } from '#api/embedded/run-service.ts';
import { makeDatabase } from '#api/store/database.ts';
import { makeLog } from '#crds/process/log.ts';
import { makePhoto, timeImage } from '#test/bench/direct-image.ts';
import { idleMemory } from '#test/bench/idle-memory.ts';
import { timeJob } from '#test/bench/job-start.ts';
import { median, print } from '#test/bench/print-figures.ts';
import { makeApiClient } from '#test/support/api-client.ts';

const JOBS = 30;
const IMAGES = 10;
const REST_MS = 10_000;
const MEDIACTL = new URL('../../api/mediactl.ts', import.meta.url).pathname;
const run = promisify(execFile);

const folder = await mkdtemp(path.join(tmpdir(), 'mediajobs-bench-'));
// A Node of the tree's own: pages shared with other Node processes of the machine would make it look smaller.
const ownNode = path.join(folder, 'node');
await copyFile(process.execPath, ownNode);
process.execPath = ownNode;
const data = path.join(folder, 'data');
const service = await runService({ data, onProblem: (line) => process.stderr.write(`${line}\n`) });
const database = makeDatabase({
  url: readConnection(data)?.DATABASE_URL ?? '',
  log: makeLog('bench', 'silent'),
  maxConnections: 1,
});
const api = makeApiClient(service, await makeKey());
try {
  await delay(REST_MS);
  printMemory();
  await printJobs();
  await printImages();
} finally {
  await Promise.all([api.close(), database.close()]);
  await service.stop();
  await rm(folder, { recursive: true });
}

async function makeKey(): Promise<string> {
  const mediactl = async (...words: string[]): Promise<Record<string, unknown>> =>
    JSON.parse((await run(process.execPath, [MEDIACTL, '--data', data, ...words, '--json'])).stdout) as Record<
      string,
      unknown
    >;
  const account = await mediactl('account', 'create', '--name', 'bench', '--plan', 'scale', '--payment-method');
  return String(
    (await mediactl('key', 'create', '--account', String(account['id']), '--mode', 'live', '--name', 'bench'))['key'],
  );
}

function printMemory(): void {
  const processes = idleMemory(data);
  const total = (of: (one: (typeof processes)[number]) => number): number =>
    processes.reduce((sum, one) => sum + of(one), 0);
  print('memory at rest, MiB', 'PSS', 'RSS');
  for (const { role, pss, rss } of processes) print(`  ${role}`, pss.toFixed(0), rss.toFixed(0));
  print('  together (goal: under 400)', total(({ pss }) => pss).toFixed(0), total(({ rss }) => rss).toFixed(0));
}

async function printJobs(): Promise<void> {
  const times = [];
  for (let count = 0; count < JOBS; count += 1) times.push(await timeJob({ api, database }));
  print(`small job, ms, of ${JOBS}`, 'median', 'slowest');
  printTimes(
    '  answered → first heartbeat (goal: under 300)',
    times.map(({ toProcessing }) => toProcessing),
  );
  printTimes(
    '  created_at → started_at',
    times.map(({ byRecord }) => byRecord),
  );
  printTimes(
    '  POST → succeeded',
    times.map(({ toSucceeded }) => toSucceeded),
  );
}

async function printImages(): Promise<void> {
  const photo = await makePhoto();
  await timeImage(api, photo);
  const times = [];
  for (let count = 0; count < IMAGES; count += 1) times.push(await timeImage(api, photo));
  print(`12-megapixel JPEG, ms, of ${IMAGES}`, 'median', 'slowest');
  printTimes(
    '  direct compress',
    times.map(({ direct }) => direct),
  );
  printTimes(
    '  sharp alone',
    times.map(({ bare }) => bare),
  );
  print('  ratio', median(times.map(({ direct, bare }) => direct / bare)).toFixed(2), '');
}

function printTimes(name: string, times: readonly number[]): void {
  print(name, median(times).toFixed(0), Math.max(...times).toFixed(0));
}
