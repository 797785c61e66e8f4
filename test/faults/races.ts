/** Races by barrier: everybody at once for what only some may have. */
import { setTimeout as delay } from 'node:timers/promises';
import { createKey } from '#api/accounts/create-key.ts';
import { MEDIACTL } from '#api/audit/audit.ts';
import { newId } from '#crds/contract/ids.ts';
import { countUnfinished, createJob, direct, ended, postJob, TO_JSON, type Reply } from '#test/faults/account.ts';
import { answering } from '#test/faults/receiver.ts';
import { must, mustEqual, type Scenario, type Stage } from '#test/faults/scenario.ts';
import { until } from '#test/faults/until.ts';

const AT_ONCE = 50;
/** Jobs of one round of cancellations. */
const AT_THEIR_END = 10;

export const RACES: readonly Scenario[] = [
  {
    name: 'race-idempotency-key',
    breaks:
      '50 identical requests with one Idempotency-Key at the same time, 100 rounds; in some of them the API crashes',
    holds: 'one job per round; every other response is the same one, or 409 idempotency_in_progress',
    seeds: 1,
    run: async (stage) => {
      const { world, account, random } = stage;
      const rounds = stage.rounds(100);
      const ids = new Set<string>();
      for (let round = 0; round < rounds; round += 1) {
        const body = JSON.stringify({
          ...TO_JSON,
          input: { url: account.url('people.csv') },
          metadata: { round: String(round) },
        });
        const headers = { 'idempotency-key': `round-${round}` };
        const crashes = random.below(20) === 0;
        if (crashes) world.faults.arm(random.pick(['before-job-commit', 'after-job-insert']), 'crash');
        const send = (): Promise<Reply> => account.call('POST', '/v1/jobs', { body, headers });
        const answers = await Promise.all(Array.from({ length: AT_ONCE }, send));
        const unexpected = answers.filter(
          ({ status, body: response }) =>
            status !== 202 &&
            response?.error?.code !== 'idempotency_in_progress' &&
            !(crashes && [0, 500].includes(status)),
        );
        mustEqual(
          unexpected.map(({ status }) => status),
          [],
          `unexpected responses in round ${round}`,
        );
        if (crashes) await world.heal();
        ids.add(await accepted(stage, send));
        await mayPause(stage);
      }
      mustEqual(ids.size, rounds, 'jobs');
      mustEqual(
        (await world.query('select 1 from jobs where account_id = $1', [account.id])).length,
        rounds,
        'jobs in the database',
      );
    },
  },
  {
    name: 'race-cancel',
    breaks: 'a job is canceled while it ends, 1,000 times, with every delay',
    holds: 'one final status, one event that says the same, billed only if it succeeded, no output once canceled',
    seeds: 1,
    run: async (stage) => {
      const { world, account, random } = stage;
      world.receiver.behave(`${account.path}missing`, answering(404));
      const counts: Record<string, number> = {};
      const rounds = stage.rounds(1000);
      const pacers = { missing: makePacer(), works: makePacer() };
      for (let done = 0; done < rounds; done += AT_THEIR_END) {
        const batch = Array.from({ length: Math.min(AT_THEIR_END, rounds - done) }, () => {
          const works = random.below(8) === 0;
          return cancelAtItsEnd(stage, { works, pacer: works ? pacers.works : pacers.missing });
        });
        for (const status of await Promise.all(batch)) counts[status] = (counts[status] ?? 0) + 1;
      }
      stage.note(
        `${rounds} rounds: ${Object.entries(counts)
          .map(([status, count]) => `${count} ${status}`)
          .join(', ')}`,
      );
      const canceled = counts['canceled'] ?? 0;
      must(
        rounds < 40 || (canceled > rounds / 5 && canceled < (rounds * 4) / 5),
        `${canceled} of ${rounds} were canceled: that is no race`,
      );
      const wrong = await world.query(
        `select j.id from jobs j left join webhook_deliveries d on d.job_id = j.id where j.account_id = $1
         group by j.id having count(d.id) <> 1
         or max(convert_from(d.body, 'UTF8')::json ->> 'type') <> 'job.' || max(j.status)`,
        [account.id],
      );
      mustEqual(wrong, [], 'jobs without exactly one event of their end');
    },
  },
  {
    name: 'race-spend-cap',
    breaks: '50 requests at the same time at a spend cap that admits 3',
    holds: 'three are admitted, direct requests and jobs alike; nothing stays reserved',
    seeds: 10,
    run: async (stage) => {
      const { world, account, random } = stage;
      await world.query('update accounts set spend_cap_micro_usd = 3000 where id = $1', [account.id]);
      const isDirect = random.below(2) === 0;
      const one = (): Promise<Reply> =>
        isDirect ? direct(account) : postJob(account, { input: { url: account.url('people.csv') } });
      const answers = await Promise.all(Array.from({ length: AT_ONCE }, one));
      const admitted = answers.filter(({ status }) => status === 200 || status === 202).length;
      const codes = new Set(answers.filter(({ status }) => status >= 400).map(({ body }) => body.error.code));
      // What is not known of an `input.url` reserves the most it may be.
      must(isDirect ? admitted === 3 : admitted >= 1 && admitted <= 3, `${admitted} were admitted`);
      mustEqual([...codes], ['spend_cap_reached'], 'refusals');
      for (const { status, body } of answers) if (status === 202) await ended(account, body.id);
      const [row = {}] = await world.query(
        'select amount_micro_usd as spent from monthly_spend where account_id = $1',
        [account.id],
      );
      must(Number(row['spent']) <= 3000, `${row['spent']} micro-dollars were spent`);
      mustEqual(
        await world.query('select 1 from direct_reservations where account_id = $1', [account.id]),
        [],
        'reservations',
      );
      await world.query('update accounts set spend_cap_micro_usd = null where id = $1', [account.id]);
    },
  },
  {
    name: 'race-limits',
    breaks:
      '20 requests at the same time at one below the limit: API keys, presets, webhook endpoints, unfinished jobs',
    holds: 'exactly one of each is made',
    seeds: 10,
    run: async (stage) => {
      const { world, account } = stage;
      await keysAtTheirLimit(stage);
      const preset = (index: number): Promise<Reply> =>
        account.call('POST', '/v1/presets', { json: { name: `p${index}`, options: { image: { quality: 50 } } } });
      await atLimit('presets', { limit: 100, make: preset, refusal: 'preset_limit_reached' });
      const endpoint = (index: number): Promise<Reply> =>
        account.call('POST', '/v1/webhook_endpoints', { json: { url: account.url(`e${index}`) } });
      await atLimit('webhook endpoints', { limit: 10, make: endpoint, refusal: 'bad_request' });
      await jobsAtTheirLimit(stage);
      must(
        (await world.query('select 1 from presets where account_id = $1', [account.id])).length === 100,
        'not 100 presets',
      );
    },
  },
];

/** Returns the job of that request, once it is known. */
function accepted({ world }: Stage, send: () => Promise<Reply>): Promise<string> {
  return until('the job is known', async () => {
    const { status, body } = await send();
    if (status === 202) return String(body.id);
    // The lease of a handler that died.
    await world.clock.pass(61);
    return null;
  });
}

/** No account may have more than 500 unfinished jobs. */
async function mayPause({ world, account }: Stage): Promise<void> {
  await until('jobs end', async () => (await countUnfinished(world, account)) < 20);
}

/** Aims at the moment at which jobs end: later when one was canceled, sooner when one had ended. */
function makePacer(): { waitMs: number; was: (status: string) => void } {
  const pacer = {
    waitMs: 100,
    was: (status: string): void => {
      pacer.waitMs = Math.max(1, pacer.waitMs * (status === 'canceled' ? 1.1 : 0.9));
    },
  };
  return pacer;
}

/** Jobs whose input cannot be fetched end at once and cost nothing; some do real work. */
async function cancelAtItsEnd(
  stage: Stage,
  { works, pacer }: { works: boolean; pacer: ReturnType<typeof makePacer> },
): Promise<string> {
  const { account, random } = stage;
  const url = account.url(works ? 'people.csv' : 'missing.csv');
  const id = await createJob(account, { input: { url }, webhook_url: account.url('hook') });
  await delay(pacer.waitMs * (0.8 + random.below(400) / 1000));
  const canceled = await account.call('DELETE', `/v1/jobs/${id}`);
  const { status } = await ended(account, id);
  pacer.was(status);
  mustEqual(canceled.body.status, status, 'what DELETE said');
  const output = await account.call('GET', `/v1/jobs/${id}/output`);
  mustEqual(output.status, 404, `the output of a job that was ${status} and whose files were deleted`);
  return status;
}

async function keysAtTheirLimit({ world, account }: Stage): Promise<void> {
  const deps = {
    database: world.database(),
    clock: world.clock,
    newId,
    peppers: [world.canaries.settings.MEDIAJOBS_KEY_PEPPER] as const,
  };
  const make = (): Promise<unknown> =>
    createKey(deps, { caller: MEDIACTL, input: { accountId: account.id, mode: 'live', name: 'more', allowList: [] } });
  for (let count = 1; count < 19; count += 1) await make();
  const made = await Promise.allSettled(Array.from({ length: 20 }, make));
  mustEqual(made.filter(({ status }) => status === 'fulfilled').length, 1, 'keys made at 19 of 20');
}

async function atLimit(
  what: string,
  { limit, make, refusal }: { limit: number; make: (index: number) => Promise<Reply>; refusal: string },
): Promise<void> {
  for (let index = 0; index < limit - 1; index += 1)
    mustEqual((await make(index)).status, 201, `one of the first ${what}`);
  const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => make(limit + index)));
  mustEqual(answers.filter(({ status }) => status === 201).length, 1, `${what} made at ${limit - 1} of ${limit}`);
  const codes = new Set(answers.filter(({ status }) => status !== 201).map(({ body }) => body.error.code));
  mustEqual([...codes], [refusal], `refusals of ${what}`);
}

async function jobsAtTheirLimit({ newAccount, world }: Stage): Promise<void> {
  const account = await newAccount('payg');
  world.receiver.behave(
    `${account.path}slow`,
    (response) => void setTimeout(() => response.writeHead(404).end(), 3000),
  );
  const make = (): Promise<Reply> => postJob(account, { input: { url: account.url('slow.csv') } });
  for (const _ of [1, 2]) mustEqual((await make()).status, 202, 'one of the first jobs');
  const answers = await Promise.all(Array.from({ length: 20 }, make));
  mustEqual(answers.filter(({ status }) => status === 202).length, 1, 'jobs made at 2 of 3');
}
