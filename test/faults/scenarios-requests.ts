/** Requests in flight when a process dies. */
import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { FaultPoint } from '#crds/process/fault-point.ts';
import {
  createJob,
  CSV,
  direct,
  ended,
  postJob,
  TO_JSON,
  upload,
  type Reply,
  type FaultAccount,
} from '#test/faults/account.ts';
import { sendHalf } from '#test/faults/half-sent.ts';
import { must, mustEqual, type Scenario, type Stage } from '#test/faults/scenario.ts';
import { until } from '#test/faults/until.ts';

export const REQUEST_SCENARIOS: readonly Scenario[] = [
  {
    name: 'direct-api-crash',
    breaks:
      'the API is killed in a direct request: before the body has arrived, in the engine, before and after the ledger row',
    holds: 'the client sees a reset; a ledger row only where the result was complete',
    run: async (stage) => {
      const { random, account } = stage;
      const point = random.pick<FaultPoint | 'body'>([
        'body',
        'before-engine-response',
        'before-direct-count',
        'after-direct-count',
      ]);
      if (point === 'body') return killInBody(stage);
      stage.world.faults.arm(point, 'crash');
      const response = await direct(account);
      const statuses = point === 'before-engine-response' ? [500, 503] : [0];
      must(statuses.includes(response.status), `a crash ${point} was answered with ${response.status}`);
      mustEqual(await billedRows(stage), point === 'after-direct-count' ? 1 : 0, `billed rows after a crash ${point}`);
    },
  },
  {
    name: 'upload-api-crash',
    breaks: 'the API is killed in the middle of an upload, or between the stored bytes and their record',
    holds: 'the upload is not there yet and no half object can be read; sending again works',
    run: async (stage) => {
      const { world, account, random } = stage;
      const bytes = Buffer.concat([CSV, Buffer.from('0012,Edsger\n'.repeat(50_000))]);
      const made = await account.call('POST', '/v1/uploads', { json: { size: bytes.length, filename: 'a.csv' } });
      const path = String(made.body.url);
      if (random.below(2) === 0) {
        const half = await sendHalf(world, account, { method: 'PUT', path, body: bytes });
        await delay(random.below(50));
        world.kill('api');
        mustEqual(await half.status, 0, 'a half upload');
      } else {
        world.faults.arm('after-upload-stored', 'crash');
        mustEqual((await account.call('PUT', path, { body: bytes })).status, 0, 'an upload whose process died');
      }
      await world.heal();
      const input = { upload: made.body.id };
      mustEqual((await postJob(account, { input })).status, 404, 'a job on it');
      mustEqual((await account.call('PUT', path, { body: bytes })).status, 200, 'sending again');
      const job = await ended(account, await createJob(account, { input }));
      mustEqual([job.status, job.input.size], ['succeeded', bytes.length], 'the job on it');
    },
  },
  {
    name: 'multipart-api-crash',
    breaks:
      'the API is killed in a part, or in complete after each of its steps; complete is called several times at the same time',
    holds: 'completed once, later ones 409; the content is the parts, never mixed',
    seeds: 10,
    slow: true,
    run: async (stage) => {
      const { world, account, random } = stage;
      const bytes = randomBytes(99_614_721);
      const made = (await account.call('POST', '/v1/uploads', { json: { size: bytes.length, filename: 'a.bin' } }))
        .body;
      const [first, second] = [bytes.subarray(0, made.part_size), bytes.subarray(made.part_size)];
      const half = await sendHalf(world, account, { method: 'PUT', path: made.parts[0].url, body: first });
      if (random.below(2) === 0) world.kill('api');
      else half.cut();
      await half.status;
      await world.heal();
      await sendPart(account, made.parts[1].url, second);
      await sendPart(account, made.parts[0].url, first);
      const point = random.pick<FaultPoint | 'race'>(['race', 'after-parts-joined', 'after-upload-completed']);
      if (point !== 'race') world.faults.arm(point, 'crash');
      const answers = await Promise.all(
        [1, 2, 3].slice(0, point === 'race' ? 3 : 1).map(() => account.call('POST', made.complete_url)),
      );
      must(
        answers.every(({ status }) => [200, 409, 0].includes(status)),
        `complete was answered with ${answers.map(({ status }) => status).join(', ')}`,
      );
      await world.heal();
      const again = await account.call('POST', made.complete_url);
      must([200, 409].includes(again.status), `complete once more was answered with ${again.status}`);
      const [row = {}] = await world.query('select etag, size from uploads where id = $1', [made.id]);
      mustEqual(row['etag'], `"${createHash('sha256').update(bytes).digest('hex')}"`, 'the content');
    },
  },
  {
    name: 'idempotency-api-crash',
    breaks: 'the API is killed between the claim of an Idempotency-Key, the row of the job and the response',
    holds: 'the same request again makes one job; without a key one more at most, which the list shows',
    run: async (stage) => {
      const { world, account, random } = stage;
      const point = random.pick<FaultPoint>(['after-idempotency-claim', 'before-job-commit', 'after-job-insert']);
      const headers: Record<string, string> =
        random.below(3) === 0 ? {} : { 'idempotency-key': `key-${random.below(1000)}` };
      const body = JSON.stringify({ ...TO_JSON, input: { upload: await upload(account) } });
      if (headers['idempotency-key'] !== undefined || point !== 'after-idempotency-claim')
        world.faults.arm(point, 'crash');
      const send = (): Promise<Reply> => account.call('POST', '/v1/jobs', { body, headers });
      const first = await send();
      must([0, 202].includes(first.status), `the first request was answered with ${first.status}`);
      await world.heal();
      let again = await send();
      // The lease of the dead handler.
      if (again.status === 409) await world.clock.pass(61);
      if (again.status === 409) again = await send();
      const listed = (await account.call('GET', '/v1/jobs')).body.data.map(({ id }: { id: string }) => id);
      const isTwice = headers['idempotency-key'] === undefined;
      // Without a key the first job may have ended meanwhile, and its upload is deleted.
      if (isTwice && again.status === 404) return mustEqual(listed.length, 1, 'jobs of an upload that was used up');
      mustEqual(again.status, 202, 'the same request again');
      must(listed.length <= (isTwice ? 2 : 1), `${listed.length} jobs were made`);
    },
  },
  {
    name: 'concurrency-api-crash',
    breaks: 'the API is killed with as many direct requests in flight as the plan allows',
    holds: 'every slot is free again within the lease',
    plan: 'payg',
    run: async ({ world, account }) => {
      const body = Buffer.from('x'.repeat(20_000));
      const path = '/v1/convert?to=json&filename=a.csv';
      const all = await Promise.all(
        Array.from({ length: 5 }, () => sendHalf(world, account, { method: 'POST', path, body })),
      );
      const reserved = (): Promise<unknown[]> =>
        world.query('select 1 from direct_reservations where account_id = $1', [account.id]);
      await until('all are in flight', async () => (await reserved()).length === 5, { seconds: 20 });
      mustEqual((await direct(account)).body?.error?.code, 'concurrency_limited', 'one more');
      world.kill('api');
      for (const { status } of all) mustEqual(await status, 0, 'a request whose process died');
      await world.heal();
      await world.clock.pass(16);
      const answers = await Promise.all(Array.from({ length: 5 }, () => direct(account)));
      mustEqual(
        answers.map(({ status }) => status),
        [200, 200, 200, 200, 200],
        'five at once after the lease',
      );
    },
  },
  {
    name: 'api-rolling-restart',
    breaks: 'SIGTERM to the API under load, as a rolling restart sends it',
    holds: 'requests in flight get complete responses; jobs are not affected',
    run: async ({ world, account, random }) => {
      const job = await createJob(account);
      const inWork = Array.from({ length: 6 }, () => direct(account));
      const half = await sendHalf(world, account, {
        method: 'POST',
        path: '/v1/convert?to=json&filename=a.csv',
        body: CSV,
      });
      await delay(random.below(40));
      world.kill('api', 'SIGTERM');
      await delay(random.below(40));
      half.finish();
      mustEqual(await half.status, 200, 'a request in flight');
      const statuses = (await Promise.all(inWork)).map(({ status }) => status);
      must(
        statuses.every((status) => status === 200 || status === 0 || status === 503),
        `answers: ${statuses.join(', ')}`,
      );
      await world.heal();
      mustEqual((await ended(account, job)).status, 'succeeded', 'the job');
    },
  },
];

async function killInBody(stage: Stage): Promise<void> {
  const { world, account, random } = stage;
  const body = Buffer.concat([CSV, Buffer.from('0012,Edsger\n'.repeat(20_000))]);
  const half = await sendHalf(world, account, { method: 'POST', path: '/v1/convert?to=json&filename=a.csv', body });
  await delay(random.below(100));
  world.kill('api');
  mustEqual(await half.status, 0, 'a request whose process died');
  mustEqual(await billedRows(stage), 0, 'billed rows');
}

async function billedRows({ world, account }: Stage): Promise<number> {
  return (await world.query(`select 1 from ledger where account_id = $1 and meter <> 'unbilled'`, [account.id])).length;
}

async function sendPart(account: FaultAccount, url: string, bytes: Buffer): Promise<void> {
  mustEqual((await account.call('PUT', url, { body: bytes })).status, 200, 'a part');
}
