/** Invariants files-deleted, accounts-separated and nothing-left-over; the next valid request succeeds. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { direct, type FaultAccount } from '#test/faults/account.ts';
import { until } from '#test/faults/until.ts';
import type { World } from '#test/faults/world.ts';
import { filesOfAttempts } from '#test/support/service-processes.ts';

export async function checkLeftovers(world: World, account: FaultAccount, stranger: FaultAccount): Promise<string[]> {
  return [
    ...(await settled('files-deleted: objects remain', () => orphans(world, account))),
    ...(await settled('files-deleted: partly written files remain', () =>
      world.files.proxy === null ? world.files.halfWritten() : [],
    )),
    ...(await settled('nothing-left-over: files of work remain', () => filesOfAttempts(world.data))),
    ...(await settled('nothing-left-over: processes of jobs remain', () =>
      world
        .processes()
        .filter(({ ofJob }) => ofJob)
        .map(({ role }) => role),
    )),
    ...bugs(world),
    ...(await settled('nothing-left-over: database sessions are stuck', () => stuckSessions(world))),
    ...(await visibleToOthers(account, stranger)),
    ...(await nextRequest(account)),
  ];
}

/** Waits until the list is empty; returns a violation with what remains. */
async function settled(what: string, look: () => Promise<readonly string[]> | readonly string[]): Promise<string[]> {
  let left: readonly string[] = [];
  const isEmpty = async (): Promise<boolean> => (left = await look()).length === 0;
  return until(what, isEmpty, { seconds: 20 }).then(
    () => [],
    () => [`${what}: ${left.slice(0, 5).join(', ')}`],
  );
}

/** Returns objects that belong to no unfinished job, kept output or waiting upload. */
async function orphans(world: World, account: FaultAccount): Promise<string[]> {
  const jobs = await world.query('select id, status, files_deleted_at, upload_id from jobs where account_id = $1', [
    account.id,
  ]);
  const uploads = await world.query('select id from uploads where account_id = $1', [account.id]);
  const isKept = (kind: string, id: string): boolean => {
    if (kind === 'uploads')
      return uploads.some((row) => row['id'] === id) || jobs.every((row) => row['upload_id'] !== id);
    const job = jobs.find((row) => row['id'] === id);
    if (job === undefined || job['status'] === 'queued' || job['status'] === 'processing') return true;
    return kind === 'outputs' && job['files_deleted_at'] === null;
  };
  return world.files.objects().filter((key) => {
    const [kind = '', id = ''] = key.split('/');
    return !isKept(kind, id);
  });
}

/** Returns crashes in the logs: a process that ends by a bug is restarted, so nothing else shows it. */
function bugs({ data }: World): string[] {
  const folder = path.join(data, 'log');
  return readdirSync(folder)
    .flatMap((name) => readFileSync(path.join(folder, name), 'utf8').split('\n'))
    .filter((line) => line.includes('"msg":"bug: '))
    .map((line) => `nothing-left-over: a process ended by a bug: ${line.slice(0, 500)}`);
}

async function stuckSessions(world: World): Promise<string[]> {
  const rows = await world.query(
    `select state, left(query, 60) as query from pg_stat_activity
     where pid <> pg_backend_pid() and state like 'idle in transaction%' and now() - state_change > interval '2 seconds'`,
  );
  return rows.map((row) => `${row['state']}: ${row['query']}`);
}

async function visibleToOthers(account: FaultAccount, stranger: FaultAccount): Promise<string[]> {
  const ids = account.exchanges
    .filter(({ path, status }) => path === '/v1/jobs' && status === 202)
    .map(({ body }) => String(body.id));
  const wrong: string[] = [];
  for (const id of ids.slice(-2)) {
    for (const part of ['', '/output', '/receipt']) {
      const { status } = await stranger.call('GET', `/v1/jobs/${id}${part}`);
      if (status !== 404) wrong.push(`accounts-separated: another account got ${status} for ${id}${part}`);
    }
  }
  return wrong;
}

async function nextRequest(account: FaultAccount): Promise<string[]> {
  const response = await direct(account);
  const isDone = response.status === 200 || response.body?.error?.code === 'spend_cap_reached';
  return isDone
    ? []
    : [
        `nothing-left-over: the response to the next valid request is ${response.status} ${JSON.stringify(response.body?.error?.code)}`,
      ];
}
