/** I5, I6 and I12: nothing is left of what has ended, nobody else sees it, and the next good request succeeds. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { direct, type TestAccount } from '#test/faults/account.ts';
import { filesBelow } from '#test/faults/kept-files.ts';
import { until } from '#test/faults/until.ts';
import type { World } from '#test/faults/world.ts';

export async function checkLeftovers(world: World, account: TestAccount, stranger: TestAccount): Promise<string[]> {
  return [
    ...(await settled('I5: objects are left', () => orphans(world, account))),
    ...(await settled('I5: half written files are left', () =>
      world.files.proxy === null ? world.files.halfWritten() : [],
    )),
    ...(await settled('I12: files of work are left', () => filesBelow(path.join(world.data, 'work', 'runs')))),
    ...(await settled('I12: processes of jobs are left', () =>
      world
        .processes()
        .filter(({ ofJob }) => ofJob)
        .map(({ role }) => role),
    )),
    ...bugs(world),
    ...(await settled('I12: database sessions are stuck', () => stuckSessions(world))),
    ...(await seenByStranger(account, stranger)),
    ...(await nextRequest(account)),
  ];
}

/** Waits for it to become empty; what stays is wrong. */
async function settled(what: string, look: () => Promise<readonly string[]> | readonly string[]): Promise<string[]> {
  let left: readonly string[] = [];
  const isEmpty = async (): Promise<boolean> => (left = await look()).length === 0;
  return until(what, isEmpty, { seconds: 20 }).then(
    () => [],
    () => [`${what}: ${left.slice(0, 5).join(', ')}`],
  );
}

/** Objects that neither an unfinished job, nor a kept output, nor a waiting upload accounts for. */
async function orphans(world: World, account: TestAccount): Promise<string[]> {
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

/** A process that ends by an error of its own is started again, and nobody would notice. */
function bugs({ data }: World): string[] {
  const folder = path.join(data, 'log');
  return readdirSync(folder)
    .flatMap((name) => readFileSync(path.join(folder, name), 'utf8').split('\n'))
    .filter((line) => line.includes('"msg":"bug: '))
    .map((line) => `I12: a process ended by a bug: ${line.slice(0, 500)}`);
}

async function stuckSessions(world: World): Promise<string[]> {
  const rows = await world.query(
    `select state, left(query, 60) as query from pg_stat_activity
     where pid <> pg_backend_pid() and state like 'idle in transaction%' and now() - state_change > interval '2 seconds'`,
  );
  return rows.map((row) => `${row['state']}: ${row['query']}`);
}

async function seenByStranger(account: TestAccount, stranger: TestAccount): Promise<string[]> {
  const ids = account.exchanges
    .filter(({ path, status }) => path === '/v1/jobs' && status === 202)
    .map(({ body }) => String(body.id));
  const wrong: string[] = [];
  for (const id of ids.slice(-2)) {
    for (const part of ['', '/output', '/receipt']) {
      const { status } = await stranger.call('GET', `/v1/jobs/${id}${part}`);
      if (status !== 404) wrong.push(`I6: another account got ${status} for ${id}${part}`);
    }
  }
  return wrong;
}

async function nextRequest(account: TestAccount): Promise<string[]> {
  const answer = await direct(account);
  const isDone = answer.status === 200 || answer.body?.error?.code === 'spend_cap_reached';
  return isDone
    ? []
    : [`I12: the next good request was answered ${answer.status} ${JSON.stringify(answer.body?.error?.code)}`];
}
