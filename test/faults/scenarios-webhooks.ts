/** Webhooks, whatever their receivers and our courier do. */
import { setTimeout as delay } from 'node:timers/promises';
import type { FaultPoint } from '#crds/process/fault-point.ts';
import { makeSecretBox } from '#api/store/secret-box.ts';
import { secretContext } from '#api/webhooks/webhook-secret.ts';
import { newId } from '#crds/contract/ids.ts';
import { makeReceiverCertificates } from '#test/support/receiver-certificates.ts';
import { createJob, ended } from '#test/faults/account.ts';
import {
  answering,
  unlimitedBody,
  hanging,
  resetting,
  startFaultReceiver,
  type Behaviour,
  type FaultReceiver,
} from '#test/faults/receiver.ts';
import { must, mustEqual, type Scenario, type Stage } from '#test/faults/scenario.ts';
import { until } from '#test/faults/until.ts';

export const WEBHOOK_SCENARIOS: readonly Scenario[] = [
  {
    name: 'webhook-slow-response',
    breaks: 'a webhook is answered after 11 seconds, or after 9',
    holds: 'failure and another attempt, or success',
    seeds: 6,
    slow: true,
    run: async (stage) => {
      const isLate = stage.random.below(2) === 0;
      behaveFirst(stage, [(response) => void setTimeout(() => response.writeHead(204).end(), isLate ? 11_000 : 9000)]);
      const job = await jobWithHook(stage);
      await untilCounted(stage, job, 1);
      mustEqual((await deliveryOf(stage, job))?.['delivered'], isLate ? null : true, 'delivered');
    },
  },
  {
    name: 'webhook-bad-response',
    breaks:
      'a webhook is answered with 301, 410, 500, a reset or an unknown certificate; or with 200 and an unlimited body',
    holds: 'failure and another attempt 10 seconds later; a 2xx counts by its headers',
    run: async (stage) => {
      const kind = stage.random.pick(['301', '410', '500', 'reset', 'certificate', 'unlimited']);
      const behaviours: Readonly<Record<string, Behaviour>> = {
        '301': answering(301, { location: 'https://127.0.0.1/' }),
        '410': answering(410),
        '500': answering(500),
        reset: resetting,
        unlimited: unlimitedBody(200),
      };
      const stranger = kind === 'certificate' ? await startFaultReceiver(makeReceiverCertificates()) : null;
      const behaviour = behaviours[kind];
      if (behaviour !== undefined) behaveFirst(stage, [behaviour]);
      const job = await jobWithHook(stage, stranger === null ? undefined : `${stranger.url}/hook`);
      await untilCounted(stage, job, 1);
      mustEqual(
        (await deliveryOf(stage, job))?.['delivered'],
        kind === 'unlimited' ? true : null,
        `delivered after ${kind}`,
      );
      if (stranger !== null) mustEqual(stranger.received('/').length, 0, 'requests to a host that nobody vouches for');
      await stranger?.close();
      if (kind === 'unlimited' || kind === 'certificate') return;
      await stage.world.clock.pass(10);
      await untilDelivered(stage, job);
    },
  },
  {
    name: 'webhook-all-attempts-fail',
    breaks: 'a receiver answers 500 eight times',
    holds: 'attempts at 0, 10 s, 1 min, 5 min, 30 min, 2 h, 6 h, 12 h, then dropped; never a ninth',
    run: async (stage) => {
      const { world, account } = stage;
      world.receiver.behave(account.path, answering(500));
      const job = await jobWithHook(stage);
      for (const [index, wait] of [10, 60, 300, 1800, 7200, 21_600, 43_200, 86_400].entries()) {
        await untilCounted(stage, job, index + 1);
        await world.clock.pass(wait);
      }
      await delay(1200);
      mustEqual(world.receiver.received(account.path).length, 8, 'attempts');
      mustEqual((await deliveryOf(stage, job))?.['delivered'], false, 'delivered');
    },
  },
  {
    name: 'courier-crash',
    breaks: 'the courier is killed before or after an event is sent',
    holds: 'it is sent again with the same id and bytes; eight counted attempts at most',
    repeats: 1,
    run: async (stage) => {
      const { world } = stage;
      const point = stage.random.pick<FaultPoint>(['before-webhook-post', 'after-webhook-response']);
      world.faults.arm(point, 'crash');
      const job = await jobWithHook(stage);
      await world.faults.fired(point);
      await world.heal();
      await world.clock.pass(31);
      await untilDelivered(stage, job);
      mustEqual((await deliveryOf(stage, job))?.['attempt'], 2, 'counted attempts');
    },
  },
  {
    name: 'webhook-endpoint-changes',
    breaks: 'an endpoint is paused between two jobs, deleted, or its secret is rotated, with attempts waiting',
    holds: 'no event for what ended while it was paused; what was queued goes on with its old secret',
    run: async (stage) => {
      const { world, account, random } = stage;
      behaveFirst(stage, [answering(500)]);
      const endpoint = (await account.call('POST', '/v1/webhook_endpoints', { json: { url: account.url('endpoint') } }))
        .body;
      const change = random.pick(['pause', 'delete', 'rotate']);
      const before = await createJob(account);
      await ended(account, before);
      await until('the first attempt has failed', async () => world.receiver.received(account.path).length === 1, {
        seconds: 20,
      });
      const path = `/v1/webhook_endpoints/${endpoint.id}`;
      if (change === 'pause') await account.call('PATCH', path, { json: { enabled: false } });
      else if (change === 'delete') await account.call('DELETE', path);
      else await account.call('POST', `${path}/rotate_secret`);
      const after = await createJob(account);
      await ended(account, after);
      await world.clock.pass(11);
      await untilDelivered(stage, before);
      mustEqual(
        (await deliveryOf(stage, after)) === undefined,
        change !== 'rotate',
        `no event of the job after ${change}`,
      );
    },
  },
  {
    name: 'webhook-backlog',
    breaks: '10,000 events wait for a host that hangs',
    holds: 'another host gets its event as if they were not there',
    seeds: 2,
    slow: true,
    run: async (stage) => {
      const { world, account } = stage;
      const dead = await startFaultReceiver(makeReceiverCertificates());
      dead.behave('/', hanging);
      await queueEvents(stage, dead, 10_000);
      const job = await createJob(account, { webhook_url: account.url('live') });
      await ended(account, job);
      const endedAt = performance.now();
      await until('the live host has its event', () => world.receiver.received(account.path).length > 0, {
        seconds: 30,
        everyMs: 10,
      });
      stage.note(
        `the live host got its event ${Math.round(performance.now() - endedAt)} ms after the job was seen to have ended`,
      );
      await world.query(`delete from webhook_deliveries where shown_url like $1`, [`${dead.url}%`]);
      await dead.close();
    },
  },
];

/** The account's first requests at the receiver get these; the others get 204. */
function behaveFirst({ world, account }: Stage, first: readonly Behaviour[]): void {
  const left = [...first];
  world.receiver.behave(account.path, (response, received) => (left.shift() ?? answering(204))(response, received));
}

async function jobWithHook({ account }: Stage, url = account.url('hook')): Promise<string> {
  const id = await createJob(account, { webhook_url: url });
  await ended(account, id);
  return id;
}

async function deliveryOf({ world }: Stage, job: string): Promise<Record<string, any> | undefined> {
  return (
    await world.query('select attempt, delivered, lease_until from webhook_deliveries where job_id = $1', [job])
  )[0];
}

/** That attempt at the job's event was made, and how it ended is recorded. */
async function untilCounted(stage: Stage, job: string, attempt: number): Promise<void> {
  await until(
    `attempt ${attempt} counts`,
    async () => {
      const row = await deliveryOf(stage, job);
      return row !== undefined && Number(row['attempt']) === attempt && row['lease_until'] === null;
    },
    { seconds: 30 },
  );
}

async function untilDelivered(stage: Stage, job: string): Promise<void> {
  await until(`the event of ${job} arrives`, async () => (await deliveryOf(stage, job))?.['delivered'] === true, {
    seconds: 30,
  });
}

/** Queues the events of `count` ended jobs. */
async function queueEvents({ world, account }: Stage, { url }: FaultReceiver, count: number): Promise<void> {
  const [id, text] = world.canaries.settings.MEDIAJOBS_ENCRYPTION_KEYS.split(':') as [string, string];
  const box = makeSecretBox([{ id, key: Buffer.from(text, 'base64') }]);
  const secret = account.secrets.get('account')?.[0] ?? '';
  const ids = Array.from({ length: count }, () => newId('event'));
  must(secret !== '', 'the account has no signing secret');
  await world.query(
    `insert into webhook_deliveries (id, account_id, job_id, url, secret, body, next_at, created_at)
     select event.id, $2, event.id, $3, event.secret, '{}', $4, $4 from unnest($1::text[], $5::bytea[]) as event (id, secret)`,
    [
      ids,
      account.id,
      `${url}/hook`,
      world.clock.now(),
      ids.map((one) => box.seal(secret, secretContext.delivery(one))),
    ],
  );
}
