/** PostgreSQL, Redis, disk, keys and schema, while requests are in flight and jobs run. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { utcDay } from '#api/billing/calendar.ts';
import { createJob, CSV, direct, ended, postJob, TO_JSON, upload, type Reply } from '#test/faults/account.ts';
import { must, mustEqual, type Scenario, type Stage } from '#test/faults/scenario.ts';
import { until } from '#test/faults/until.ts';
import { makeApiClient } from '#test/support/api-client.ts';
import { openSecondApi } from '#test/support/second-api.ts';

const DAY_MS = 86_400_000;

export const SERVER_SCENARIOS: readonly Scenario[] = [
  {
    name: 'postgres-outage',
    breaks: 'PostgreSQL crashes, restarts, or cannot be reached for some seconds, during mixed requests',
    holds: 'errors, but nothing that was acknowledged is lost or doubled; connections recover by themselves',
    repeats: 1,
    run: async (stage) => {
      const { world, account, random } = stage;
      const uploads = [await upload(account), await upload(account), await upload(account)];
      const traffic = mixedTraffic(stage, uploads);
      await delay(random.below(400));
      if (random.below(2) === 0) await world.crashPostgres(() => delay(random.below(2000)));
      else {
        world.postgres.proxy.cut();
        await delay(500 + random.below(2500));
        world.postgres.proxy.mend();
      }
      const statuses = await traffic;
      must(
        statuses.every((status) => [200, 202, 0, 500, 503, 404].includes(status)),
        `answers: ${statuses.join(', ')}`,
      );
      await world.heal();
      mustEqual((await direct(account)).status, 200, 'the next request');
    },
  },
  {
    name: 'postgres-lost-commit',
    breaks: 'PostgreSQL commits and its response is lost',
    holds: 'what is read again decides; nothing is doubled, and what failed is not billed',
    repeats: 1,
    run: async (stage) => {
      const { world, account, random } = stage;
      const statement = random.pick([
        'insert into jobs',
        'insert into ledger',
        'update jobs set status',
        'insert into uploads',
        'update webhook_deliveries',
      ]);
      const dropped = world.postgres.proxy.dropCommitReply(statement);
      const headers = { 'idempotency-key': 'once' };
      const input = { upload: await upload(account) };
      const body = JSON.stringify({ ...TO_JSON, input, webhook_url: account.url('hook') });
      if (statement === 'insert into ledger') await direct(account);
      const made = await until('the job is accepted', async () => {
        const { status, body: response } = await account.call('POST', '/v1/jobs', { body, headers });
        return status === 202 ? String(response.id) : null;
      });
      await ended(account, made);
      await until(
        `a response after ${statement} is lost`,
        () => Promise.race([dropped.then(() => true), delay(100).then(() => false)]),
        { seconds: 30 },
      );
      await world.clock.pass(31);
    },
  },
  {
    name: 'postgres-conflicts',
    breaks: 'PostgreSQL refuses with a serialization failure, a deadlock or a lock timeout, once or repeatedly',
    holds: 'the first two are tried again; what still fails is 500 and leaves nothing behind',
    run: async (stage) => {
      const { account, random } = stage;
      const [code, times] = [random.pick(['40001', '40P01', '55P03']), random.pick([1, 3, 6])];
      const table = random.pick(['jobs', 'ledger']);
      const input = { upload: await upload(account) };
      const mend = await refuseInserts(stage, { table, code, times });
      try {
        const response = table === 'jobs' ? await postJob(account, { input }) : await direct(account);
        const isRepeated = code !== '55P03' && times < 5;
        const expected = isRepeated ? (table === 'jobs' ? 202 : 200) : 500;
        mustEqual(response.status, expected, `${table}, ${times} times ${code}`);
      } finally {
        await mend();
      }
    },
  },
  {
    name: 'redis-outage',
    breaks: 'Redis is emptied, crashes, responds after 10 seconds, or cannot be reached',
    holds: 'requests succeed; at most one extra bucket of tokens is used, and every permit is released',
    extraBuckets: 1,
    plan: 'payg',
    run: async (stage) => {
      const { world, account, random } = stage;
      const kind = random.pick(['flush', 'crash', 'slow', 'missing']);
      const startedAt = performance.now();
      const burst = (): Promise<Reply[]> => alternately(4, 24, () => direct(account));
      const before = await burst();
      if (kind === 'flush') execFileSync('redis-cli', ['-s', new URL(world.redis.url()).pathname, 'flushall']);
      else if (kind === 'crash') await world.redis.crash();
      else if (kind === 'slow') world.redis.proxy.slow(10_000);
      else world.redis.proxy.cut();
      const after = await burst();
      world.redis.proxy.mend();
      world.redis.proxy.reset();
      const answers = [...before, ...after];
      must(
        answers.every(({ status }) => status === 200 || status === 429),
        `answers: ${answers.map(({ status }) => status).join(', ')}`,
      );
      const admitted = answers.filter(({ status }) => status === 200).length;
      const seconds = (performance.now() - startedAt) / 1000;
      must(
        admitted <= 10 * 2 + Math.ceil(5 * seconds),
        `${admitted} requests were admitted in ${seconds.toFixed(1)} s after ${kind}`,
      );
      await world.clock.pass(20);
      await delay(1500);
      const five = await Promise.all(Array.from({ length: 5 }, () => direct(account)));
      mustEqual(
        five.map(({ status }) => status),
        [200, 200, 200, 200, 200],
        `five at once after ${kind}`,
      );
    },
  },
  {
    name: 'clock-skew',
    breaks: 'the clock of one API process is ten minutes ahead, or ten minutes behind',
    holds: 'jobs that it makes run as others do, no time decreases, and links hold for both',
    seeds: 5,
    run: async (stage) => {
      const { world, account, random } = stage;
      await world.clock.pass(600);
      const ahead = Math.round((world.clock.now().getTime() - Date.now()) / 1000);
      const file = path.join(world.folder, 'other-clock');
      writeFileSync(file, String(ahead + random.pick([-600, 600])));
      const other = await openSecondApi(
        { data: world.data, ca: world.service().ca },
        {
          ...world.canaries.settings,
          MEDIAJOBS_ENGINE_URL: 'http+unix://%2Fnobody%2Flistens',
          MEDIAJOBS_CLOCK_FILE: file,
          MEDIAJOBS_PRIVATE_TARGETS: '127.0.0.0/8',
        },
      );
      const skewed = makeApiClient(other, account.key);
      try {
        const json = { ...TO_JSON, input: { upload: await upload(account) }, webhook_url: account.url('hook') };
        const made = await skewed('POST', '/v1/jobs', { json });
        mustEqual(made.status, 202, 'a job');
        account.madeElsewhere.push(String(made.json()['id']));
        const job = await ended(account, String(made.json()['id']));
        mustEqual(job.status, 'succeeded', 'its end');
        const link = new URL(job.result.download_url);
        for (const base of [world.service().baseUrl, other.baseUrl])
          mustEqual(
            (await skewed('GET', `${base}${link.pathname}${link.search}`, { key: null })).status,
            200,
            `the link at ${base}`,
          );
        // By default usage ends today, which is another day for a process on the other side of midnight.
        const [from, to] = [-1, 1].map((days) => utcDay(new Date(world.clock.now().getTime() + days * DAY_MS)));
        const usage = await skewed('GET', `/v1/usage?from=${from}&to=${to}`);
        mustEqual([usage.status, usage.json()['totals'].requests], [200, 1], 'usage');
      } finally {
        await skewed.close();
        await other.stop();
      }
    },
  },
  {
    name: 'disk-full',
    breaks: 'the disk is full',
    holds: 'errors, no crash; afterwards everything works again',
    seeds: 3,
    run: async (stage) => {
      const { world, account } = stage;
      if (!world.hasOwnDisk) return stage.note('left out: it takes root and a mount namespace of its own');
      const made = (await account.call('POST', '/v1/uploads', { json: { size: 3_000_000, filename: 'a.csv' } })).body;
      const kept = await createJob(account);
      await ended(account, kept);
      const pids = (): string =>
        world
          .processes()
          .filter(({ role }) => ['api', 'control', 'courier'].includes(role))
          .map(({ pid }) => pid)
          .join();
      const before = pids();
      const bytes = Buffer.alloc(3_000_000, 'a,b\n');
      world.fillDisk();
      const refused = await account.call('PUT', made.url, { body: bytes });
      const failed = await direct(account, bytes);
      const job = await createJob(account, { input: { url: account.url('people.csv') } }).catch(() => null);
      await delay(stage.random.below(2000));
      world.freeDisk();
      mustEqual(refused.status, 500, 'an upload');
      must([500, 503].includes(failed.status), `a direct request was answered with ${failed.status}`);
      mustEqual(pids(), before, 'processes');
      if (job !== null) await world.clock.passGently(30);
      if (job !== null) await ended(account, job);
      mustEqual((await account.call('GET', `/v1/jobs/${kept}/output`)).status, 200, 'an earlier output');
      mustEqual((await account.call('PUT', made.url, { body: bytes })).status, 200, 'the upload afterwards');
    },
  },
  {
    name: 'expiry-during-download',
    breaks: 'the files of a job expire, or are deleted, while somebody downloads them',
    holds: 'the whole file or a clean 404, never a truncated 200',
    run: async (stage) => {
      const { world, account, random } = stage;
      const id = await createJob(account, { input: { upload: await upload(account, bigCsv()) } });
      const size = (await ended(account, id)).result.output_size;
      const downloads = Array.from({ length: 6 }, async () => {
        await delay(random.below(60));
        return account.call('GET', `/v1/jobs/${id}/output`);
      });
      await delay(random.below(60));
      if (random.below(2) === 0) await account.call('DELETE', `/v1/jobs/${id}`);
      else await world.clock.pass(3601);
      for (const { status, bytes } of await Promise.all(downloads)) {
        must(
          status === 404 || (status === 200 && bytes.length === size),
          `a download returned ${status} and ${bytes.length} of ${size} bytes`,
        );
      }
      await account.call('DELETE', `/v1/jobs/${id}`);
    },
  },
  {
    name: 'month-end',
    breaks: 'the UTC month ends while a job is running',
    holds: 'it counts on the day it finished, for the cap of that month; the sums agree',
    run: async (stage) => {
      const { world, account, random } = stage;
      const point = random.pick(['before-output-put', 'before-final-commit', 'after-outcome'] as const);
      world.faults.arm(point, 'hold');
      const id = await createJob(account);
      await world.faults.fired(point);
      const now = world.clock.now();
      const month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1));
      await world.clock.pass((month.getTime() - now.getTime()) / 1000 - 1);
      await delay(random.below(1500));
      world.faults.release(point);
      const job = await ended(account, id);
      const [row = {}] = await world.query('select day, at from ledger where source_id = $1', [id]);
      mustEqual(row['day'], String(job.completed_at).slice(0, 10), 'the day of the ledger');
      const [spend = {}] = await world.query('select month from monthly_spend where account_id = $1', [account.id]);
      if (job.billed === true)
        mustEqual(spend['month'], `${String(job.completed_at).slice(0, 7)}-01`, 'the month of the cap');
    },
  },
  {
    name: 'schema-migration',
    breaks: 'the schema is migrated to that of a newer release under traffic',
    holds: 'processes of this release go on',
    seeds: 5,
    run: async (stage) => {
      const { world, account, random } = stage;
      const uploads = [await upload(account), await upload(account), await upload(account)];
      const traffic = mixedTraffic(stage, uploads);
      await delay(random.below(300));
      for (const table of ['jobs', 'uploads', 'ledger'])
        await world.query(`alter table ${table} add column of_later text`);
      const statuses = await traffic;
      mustEqual(
        statuses.filter((status) => status >= 500 || status === 0),
        [],
        'failed requests',
      );
      for (const table of ['jobs', 'uploads', 'ledger']) await world.query(`alter table ${table} drop column of_later`);
    },
  },
  {
    name: 'encryption-key-rotation',
    breaks: 'the key that encrypts stored secrets is rotated, with a restart',
    holds: 'what the old key sealed still opens; new values are sealed with the new one',
    seeds: 3,
    run: async (stage) => {
      const { world, account } = stage;
      const old = await account.call('POST', '/v1/webhook_endpoints', { json: { url: account.url('old') } });
      mustEqual(old.status, 201, 'an endpoint');
      const key = world.canaries.add('new encryption key', randomBytes(32).toString('base64'));
      const ring = `b:${key},${world.canaries.settings.MEDIAJOBS_ENCRYPTION_KEYS}`;
      await world.restart('SIGTERM', { MEDIAJOBS_ENCRYPTION_KEYS: ring });
      const made = await account.call('POST', '/v1/webhook_endpoints', { json: { url: account.url('new') } });
      const [row = {}] = await world.query('select secret from webhook_endpoints where id = $1', [made.body.id]);
      mustEqual((row['secret'] as Buffer).subarray(2, 3).toString(), 'b', 'the key that seals');
      await ended(account, await createJob(account));
      for (const name of ['old', 'new'])
        await until(
          `the ${name} endpoint has its event`,
          () => world.receiver.received(`${account.path}${name}`).length > 0,
          { seconds: 20 },
        );
      // The next scenarios run without the new key: what it sealed goes first.
      await world.query('delete from webhook_endpoints where account_id = $1', [account.id]);
      await world.query('update accounts set signing_secret = null where id = $1', [account.id]);
      await until(
        'all is delivered',
        async () => (await world.query('select 1 from webhook_deliveries where done_at is null')).length === 0,
      );
      await world.restart('SIGTERM');
    },
  },
];

/** Requests of every kind at once, the same for the same seed. Returns their statuses. */
async function mixedTraffic({ account, random }: Stage, uploads: readonly string[]): Promise<number[]> {
  const kinds: readonly (() => Promise<Reply>)[] = [
    () => direct(account),
    () => account.call('GET', '/v1/jobs'),
    () => account.call('POST', '/v1/uploads', { json: { size: CSV.length } }),
    () => postJob(account, { input: { upload: uploads[random.below(uploads.length)] } }),
    () => postJob(account, { input: { url: account.url('people.csv') } }),
  ];
  const replies = await alternately(4, 32, async () => {
    await delay(random.below(100));
    return random.pick(kinds)();
  });
  return replies.map(({ status }) => (status === 201 ? 200 : status));
}

/** Returns the results of `count` calls, `atOnce` of them concurrently. */
async function alternately<T>(atOnce: number, count: number, call: () => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  let begun = 0;
  const caller = async (): Promise<void> => {
    while (begun < count) {
      begun += 1;
      results.push(await call());
    }
  };
  await Promise.all(Array.from({ length: atOnce }, caller));
  return results;
}

/** Makes inserts into the table fail with that code. Returns a function that ends it. A sequence counts through rollbacks. */
async function refuseInserts(
  { world }: Stage,
  { table, code, times }: { table: string; code: string; times: number },
): Promise<() => Promise<void>> {
  await world.query(`create sequence fault_count;
    create function refuse_insert() returns trigger language plpgsql as $$ begin
      if nextval('fault_count') <= ${times} then raise exception 'injected' using errcode = '${code}'; end if;
      return new;
    end $$;
    create trigger refuse before insert on ${table} for each row execute function refuse_insert()`);
  return async () => {
    await world.query(`drop trigger refuse on ${table}; drop function refuse_insert; drop sequence fault_count`);
  };
}

/** About 3 MB, of which JSON makes 10. */
function bigCsv(): Buffer {
  return Buffer.from(`id,name,place\n${'0010,Ada Lovelace,London\n'.repeat(120_000)}`);
}
