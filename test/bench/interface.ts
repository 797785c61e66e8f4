/**
 * Prints what the interface takes: requests per second with the whole service (PostgreSQL and Redis too) on one core
 * and the load on the other, and the CPU that each request costs; lists and usage at a million jobs; how soon webhooks go out.
 */
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { json } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { createAccount } from '#api/accounts/create-account.ts';
import { createKey } from '#api/accounts/create-key.ts';
import { MEDIACTL } from '#api/audit/audit.ts';
import { readConnection } from '#api/embedded/connection.ts';
import { runService } from '#api/embedded/run-service.ts';
import { makeDatabase } from '#api/store/database.ts';
import { newId } from '#crds/contract/ids.ts';
import { systemClock } from '#crds/process/clock.ts';
import { makeLog } from '#crds/process/log.ts';
import { cpuByRole, load, pinApart, type LoadResult } from '#test/bench/load.ts';
import { median, print } from '#test/bench/print-figures.ts';
import { makeApiClient } from '#test/support/api-client.ts';
import { buildReport } from '#test/support/job-builder.ts';
import { makeReceiverCertificates } from '#test/support/receiver-certificates.ts';
import { processesOf } from '#test/support/service-processes.ts';

const SECONDS = 8;
const CONNECTIONS = 16;
const JOBS = 1_000_000;
const ACCOUNTS = 40;
const TIMES = 20;
const EVENTS_PER_SECOND = 50;

const folder = await mkdtemp(path.join(tmpdir(), 'mediajobs-bench-'));
const certificates = makeReceiverCertificates();
const authority = path.join(folder, 'receivers-ca.pem');
await writeFile(authority, certificates.authority);
const service = await runService({
  data: folder,
  settings: { MEDIAJOBS_PRIVATE_TARGETS: '127.0.0.0/8', MEDIAJOBS_EXTRA_CA_FILE: authority },
  onProblem: (line) => process.stderr.write(`${line}\n`),
});
const connection = readConnection(folder);
if (connection === null) throw new Error('the service serves but wrote no connection file');
const database = makeDatabase({ url: connection.DATABASE_URL, log: makeLog('bench', 'silent'), maxConnections: 2 });
const deps = { database, clock: systemClock, newId, peppers: [connection.MEDIAJOBS_KEY_PEPPER] as const };
const owners = await Promise.all(Array.from({ length: ACCOUNTS }, makeOwner));
const [first] = owners;
if (first === undefined) throw new Error('there is no account');
const api = makeApiClient(service, first.key);
try {
  await seed();
  pinApart(folder);
  await printReads();
  await printPages();
  await printEvents();
  await printJobs();
  signal('SIGSTOP');
  await printCreations('POST /v1/jobs, with recorder and courier at rest (goal: 300)', 'https://files.invalid/a.jpg');
} finally {
  signal('SIGCONT');
  await Promise.all([api.close(), database.close()]);
  await service.stop();
  await rm(folder, { recursive: true });
}

async function makeOwner(): Promise<{ account: string; key: string }> {
  const account = await createAccount(deps, {
    caller: MEDIACTL,
    input: {
      name: 'bench',
      plan: 'enterprise',
      paymentMethod: true,
      features: ['video'],
    },
  });
  const key = await createKey(deps, {
    caller: MEDIACTL,
    input: { accountId: account.id, mode: 'live', name: 'bench', allowList: [] },
  });
  return { account: account.id, key: key.keyText };
}

/** A million jobs and as many ledger rows, all of the first account, over a year; ended ones and a few of each other end. */
async function seed(): Promise<void> {
  const result = JSON.stringify(buildReport({ output_size: 500, savings_percent: 50 }).result);
  const tx = { patient: true };
  await database.transaction(async (db) => {
    await db.query(
      `insert into jobs (id, account_id, livemode, operation, status, percent, created_at, started_at, completed_at,
         input_key, input_filename, input_size, input_stored, options, limits, features, retention_seconds, metadata,
         result, error, files_deleted_at, expires_at)
       select 'job_' || lpad(n::text, 20, '0'), $1, true, case when n % 10 = 0 then 'convert' else 'compress' end,
         case when n % 100 = 0 then 'failed' else 'succeeded' end, 100, at, at, at, 'k', 'a.jpg', 1000, true, '{}', '{}', '{}', 3600, '{}',
         case when n % 100 = 0 then null else $3::json end, case when n % 100 = 0 then '{"type": "api_error", "code": "internal", "message": "x"}'::json end, at, at
       from (select n, $2::timestamptz - n * interval '2 seconds' as at from generate_series(1, ${JOBS}) n) as rows`,
      [first?.account, new Date(), result],
    );
    await db.query(
      `insert into ledger select 'job_' || lpad(n::text, 20, '0'), $1, true, $2::date - n % 365, 'compress', 'image',
         (array['images', 'pdfs', 'documents', 'audio_minutes', 'video_units', 'files', 'unbilled'])[1 + n % 7],
         case when n % 7 = 6 then 0 else 1 end, case when n % 7 = 6 then 0 else 2000 end, 1000, 500, $2
       from generate_series(1, ${JOBS}) n`,
      [first?.account, new Date()],
    );
  }, tx);
  await database.query('analyze');
}

async function printReads(): Promise<void> {
  const key = first?.key ?? '';
  const id = `job_${'123'.padStart(20, '0')}`;
  await measure('GET /v1/jobs/{id} (goal: 2,000)', () =>
    load({
      ...service,
      connections: CONNECTIONS,
      seconds: SECONDS,
      status: 200,
      request: () => ({ method: 'GET', path: `/v1/jobs/${id}`, key }),
    }),
  );
}

/** Sends the signal to the processes that dispatch new jobs. */
function signal(name: 'SIGSTOP' | 'SIGCONT'): void {
  for (const { pid, role } of processesOf(folder))
    if (role === 'control' || role === 'courier') process.kill(pid, name);
}

/** Jobs whose input does not exist: the shortest way to an end. They are fetched, dispatched and failed on the same core. */
async function printJobs(): Promise<void> {
  const storage = createServer({ cert: certificates.certificate, key: certificates.key }, (_request, response) => {
    response.writeHead(404).end();
  });
  storage.listen(0, '127.0.0.1');
  await once(storage, 'listening');
  const startedAt = performance.now();
  const url = `https://127.0.0.1:${(storage.address() as AddressInfo).port}/a.jpg`;
  await printCreations('POST /v1/jobs, while the jobs before are taken to their end', url);
  const inCreation = await countEnded();
  while (await hasUnfinished()) await delay(100);
  const seconds = (performance.now() - startedAt) / 1000;
  const ended = await countEnded();
  print(
    '  ended',
    `${(inCreation / SECONDS).toFixed(0)}/s`,
    `${(ended / seconds).toFixed(0)}/s until the last end (goal: 300)`,
  );
  storage.closeAllConnections();
  storage.close();
}

async function countEnded(): Promise<number> {
  const { rows } = await database.query<{ count: number }>(
    `select count(*)::int as count from jobs where error->>'code' = 'input_fetch_failed'`,
  );
  return rows[0]?.count ?? 0;
}

async function hasUnfinished(): Promise<boolean> {
  return (await database.findRow(`select from jobs where status in ('queued', 'processing') limit 1`)) !== null;
}

async function printCreations(name: string, inputUrl: string): Promise<void> {
  let iteration = 0;
  const body = JSON.stringify({ operation: 'compress', input: { url: inputUrl } });
  await measure(name, () =>
    load({
      ...service,
      connections: CONNECTIONS,
      seconds: SECONDS,
      status: 202,
      request: () => ({ method: 'POST', path: '/v1/jobs', key: owners[iteration++ % owners.length]?.key ?? '', body }),
    }),
  );
}

async function printPages(): Promise<void> {
  const day = (ago: number): string => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
  print('ms at a million jobs (goal: under 50)', 'median', 'slowest');
  const deep = `job_${'900000'.padStart(20, '0')}`;
  for (const [name, query] of [
    ['newest 100', '/v1/jobs?limit=100'],
    ['100 after 900,000', `/v1/jobs?limit=100&starting_after=${deep}`],
    ['100 before', `/v1/jobs?limit=100&ending_before=${deep}`],
    ['failed ones', '/v1/jobs?limit=100&status=failed'],
    ['canceled ones (none)', '/v1/jobs?limit=100&status=canceled'],
    ['queued ones (none)', '/v1/jobs?limit=100&status=queued'],
    ['convert of 10 days ago', `/v1/jobs?limit=100&operation=convert&created_before=${day(10)}T00:00:00Z`],
    ['strip_metadata (none)', '/v1/jobs?limit=100&operation=strip_metadata'],
    ['usage of 365 days', `/v1/usage?from=${day(364)}&to=${day(0)}`],
  ] as const) {
    const times: number[] = [];
    for (let count = 0; count < TIMES; count += 1) {
      const startedAt = performance.now();
      const response = await api('GET', query);
      if (response.status !== 200) throw new Error(`${query} was answered with ${response.status}`);
      times.push(performance.now() - startedAt);
    }
    print(`  ${name}`, median(times).toFixed(1), Math.max(...times).toFixed(1));
  }
}

/** Jobs that end at a steady pace, by cancellation; each with a webhook to one receiver. */
async function printEvents(): Promise<void> {
  const waits: number[] = [];
  const receiver = createServer({ cert: certificates.certificate, key: certificates.key }, (request, response) => {
    void json(request).then((event) => {
      waits.push(Date.now() - new Date((event as { created_at: string }).created_at).getTime());
      response.writeHead(204).end();
    });
  });
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const webhook = `https://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  const sending: Promise<void>[] = [];
  for (let count = 0; count < SECONDS * EVENTS_PER_SECOND; count += 1) {
    sending.push(endJob(webhook, owners[count % owners.length]?.key ?? ''));
    await delay(1000 / EVENTS_PER_SECOND);
  }
  await Promise.all(sending);
  for (let tries = 0; tries < 100 && waits.length < sending.length; tries += 1) await delay(100);
  receiver.closeAllConnections();
  receiver.close();
  const sorted = waits.toSorted((a, b) => a - b);
  print(
    'event → first attempt (goal: under 1,000 ms)',
    `${sorted.length} of ${sending.length}`,
    `p50 ${at(sorted, 0.5)}`,
    `p99 ${at(sorted, 0.99)} ms`,
  );
}

async function endJob(webhook: string, key: string): Promise<void> {
  const body = { operation: 'compress', input: { url: 'https://files.invalid/a.jpg' }, webhook_url: webhook };
  const created = await api('POST', '/v1/jobs', { key, json: body });
  await api('DELETE', `/v1/jobs/${String(created.json()['id'])}`, { key });
}

async function measure(name: string, work: () => Promise<LoadResult>): Promise<void> {
  const before = cpuByRole(folder);
  const { perSecond, latencies } = await work();
  const after = cpuByRole(folder);
  print(name, `${perSecond.toFixed(0)}/s`, `p50 ${at(latencies, 0.5)}`, `p99 ${at(latencies, 0.99)} ms`);
  for (const [role, seconds] of after) {
    const perRequest = (1e6 * (seconds - (before.get(role) ?? 0))) / latencies.length;
    if (perRequest >= 1) print(`  CPU of ${role}`, `${perRequest.toFixed(0)} µs`);
  }
}

function at(sorted: readonly number[], part: number): string {
  return (sorted[Math.floor(sorted.length * part)] ?? 0).toFixed(1);
}
