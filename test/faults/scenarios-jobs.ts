/** Jobs whose processes die, stop or disappear at every step of their way. */
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { FILE_SETTINGS } from '#api/files/file-settings.ts';
import { openFiles } from '#api/files/open-files.ts';
import { LAST_WRITE_SECONDS, outputKey } from '#api/jobs/job.ts';
import { systemClock } from '#crds/process/clock.ts';
import { loadConfig } from '#crds/process/config.ts';
import type { FaultPoint } from '#crds/process/fault-point.ts';
import { settings } from '#crds/process/settings.ts';
import { startRequest } from '#crds/process/start-request.ts';
import { createJob, ended, postJob, ROWS, upload } from '#test/faults/account.ts';
import { must, mustEqual, type Scenario, type Stage } from '#test/faults/scenario.ts';
import { until } from '#test/faults/until.ts';
import { runsOfWorker } from '#test/support/service-processes.ts';
import type { World } from '#test/faults/world.ts';

export const JOB_SCENARIOS: readonly Scenario[] = [
  {
    name: 'dispatch-crash',
    breaks: 'recorder and controller are killed, or fail, between the row of a job and its MediaJob',
    holds: 'the MediaJob is made at the next start',
    run: async (stage) => {
      stage.world.faults.arm('before-dispatch', stage.random.pick(['crash', 'fail']));
      await mustSucceed(stage, await createJob(stage.account));
      must(stage.world.faults.hasFired('before-dispatch'), 'the point was not reached');
    },
  },
  {
    name: 'control-crash',
    breaks: 'recorder and controller are killed after the MediaJob, once or twice, or are stopped for some time',
    holds: 'one output; an attempt is lost only where one had started',
    run: async (stage) => {
      const { world, random } = stage;
      const points = random.shuffled(AFTER_DISPATCH).slice(0, 1 + random.below(2));
      const standsStill = random.below(3) === 0;
      const inOrder = AFTER_DISPATCH.filter((point) => points.includes(point));
      let id = '';
      for (const point of inOrder) {
        world.faults.arm(point, standsStill ? 'hold' : 'crash');
        if (id === '') id = await createJob(stage.account);
        await world.faults.fired(point);
        if (standsStill) await standStill(stage, point);
      }
      await mustSucceed(stage, id);
      const lost = (await attemptOf(stage, id)) - 1;
      const mayLose = standsStill ? 0 : inOrder.filter((point) => point !== 'after-dispatch').length;
      must(lost <= mayLose, `${lost} attempts were lost, ${standsStill ? 'held' : 'killed'} ${inOrder.join(', ')}`);
    },
  },
  {
    name: 'worker-crash',
    breaks: 'the worker of a job is killed, or its MediaJob is lost with the controller, up to three times',
    holds: 'the attempts count; the third loss is `internal`',
    repeats: 0,
    run: async (stage) => {
      const { world, random } = stage;
      const losses = 1 + random.below(3);
      world.faults.arm('before-output-put', 'hold');
      const id = await createJob(stage.account);
      for (let loss = 1; loss <= losses; loss += 1) {
        await world.faults.fired('before-output-put');
        await until('the attempt is recorded', async () => (await attemptOf(stage, id)) === loss);
        if (random.below(2) === 0) killWorker(world, id);
        else world.kill('control');
        world.faults.clear();
        if (loss < losses) world.faults.arm('before-output-put', 'hold');
      }
      if (losses === 3) await mustBeGivenUp(stage, id);
      else await mustSucceed(stage, id);
    },
  },
  {
    name: 'every-attempt-crashes',
    breaks: 'every attempt crashes in the middle of its work',
    holds: 'attempts 1 to 3, then failed with `internal`, not billed, one job.failed event',
    run: async (stage) => {
      const { world, account } = stage;
      world.faults.arm('before-output-put', 'crash');
      const id = await createJob(account, { webhook_url: account.url('hook') });
      for (const _ of [1, 2]) {
        await world.faults.fired('before-output-put');
        world.faults.arm('before-output-put', 'crash');
      }
      await mustBeGivenUp(stage, id);
      const events = await until('the event arrives', () => {
        const received = world.receiver.received(account.path);
        return received.length > 0 ? received.map(({ body }) => String(JSON.parse(body.toString()).type)) : null;
      });
      mustEqual(events, ['job.failed'], 'events');
    },
  },
  {
    name: 'crash-after-output',
    breaks: 'the worker is killed after it has stored the output, or the recorder around the final commit',
    holds: 'one output can be read, one ledger row',
    run: async (stage) => {
      const point = stage.random.pick<FaultPoint>([
        'after-output-put',
        'after-outcome',
        'before-final-commit',
        'after-final-commit',
      ]);
      stage.world.faults.arm(point, 'crash');
      const id = await createJob(stage.account);
      await mustSucceed(stage, id);
      must(stage.world.faults.hasFired(point), `${point} was not reached`);
    },
  },
  {
    name: 'stale-attempt-output',
    breaks: 'a lost attempt writes its output after another attempt has ended the job',
    holds: 'what it wrote is never served',
    run: async (stage) => {
      const { world, account } = stage;
      world.faults.arm('before-output-put', 'hold');
      const id = await createJob(account);
      await world.faults.fired('before-output-put');
      const url = await outputUrlOf(world, id);
      killWorker(world, id);
      world.faults.clear();
      const zombie = (): Promise<number> => put(url, 'written by a zombie');
      if (stage.random.below(2) === 0) await zombie();
      await mustSucceed(stage, id);
      await zombie();
      await mustSucceed(stage, id);
    },
  },
  {
    name: 'file-store-outage',
    breaks: 'the file store stops answering, or is killed, while an attempt reads and writes',
    holds: 'the job waits or tries again; nothing is lost',
    run: async (stage) => {
      const { world, account, random } = stage;
      const ids = [await createJob(account), await createJob(account)];
      await delay(random.below(600));
      if (random.below(2) === 0) world.kill('api');
      else {
        world.kill('api', 'SIGSTOP');
        await delay(2000 + random.below(2000));
        world.kill('api', 'SIGCONT');
      }
      await world.heal();
      for (const id of ids) await mustSucceed(stage, id);
    },
  },
  {
    name: 'cancel-start-timeout',
    breaks: 'a job is canceled, starts and times out at the same moment',
    holds: 'one of them wins, and nothing changes it afterwards',
    run: async (stage) => {
      const { world, account, random } = stage;
      const point = random.pick<FaultPoint>([
        'before-dispatch',
        'before-attempt-start',
        'after-attempt-start',
        'before-output-put',
      ]);
      world.faults.arm(point, 'hold');
      const id = await createJob(account, { webhook_url: account.url('hook') });
      await world.faults.fired(point);
      await world.clock.pass(random.pick([1, 31 * 60, 5 * 3600]));
      const cancel = async (): Promise<unknown> => (
        await delay(random.below(300)),
        account.call('DELETE', `/v1/jobs/${id}`)
      );
      const release = async (): Promise<void> => (await delay(random.below(300)), world.faults.release(point));
      await Promise.all([cancel(), release()]);
      await ended(account, id);
      mustEqual((await world.query('select 1 from webhook_deliveries where job_id = $1', [id])).length, 1, 'events');
    },
  },
  {
    name: 'one-upload-two-jobs',
    breaks: 'two jobs race for one upload',
    holds: 'one has the result; the other one fails with input_missing',
    run: async (stage) => {
      const { account } = stage;
      const input = { upload: await upload(account) };
      const made = await Promise.all([1, 2].map(() => postJob(account, { input })));
      const ends = await Promise.all(made.map(({ body }) => ended(account, String(body.id))));
      const outcomes = ends.map(({ status, error }) => (status === 'succeeded' ? 'succeeded' : String(error.code)));
      mustEqual(outcomes.toSorted().join(', '), 'input_missing, succeeded', 'outcomes');
    },
  },
  {
    name: 'unreliable-notifications',
    breaks: 'notifications arrive twice, late, in any order, and about jobs that do not exist',
    holds: 'they change nothing but when somebody looks',
    run: async (stage) => {
      const { world, account, random } = stage;
      const ids = [await createJob(account), await createJob(account), await createJob(account)];
      const hints = [...ids, ...ids, 'job_00000000000000000000', '', 'nonsense'];
      for (let round = 0; round < 20; round += 1) {
        for (const hint of random.shuffled(hints)) await world.query(`select pg_notify('mediajobs', $1)`, [hint]);
        await delay(random.below(60));
      }
      for (const id of ids) await mustSucceed(stage, id);
      for (const id of ids) mustEqual(await attemptOf(stage, id), 1, 'attempts');
    },
  },
  {
    name: 'crashing-job',
    breaks: 'one job crashes its worker each time',
    holds: 'it fails after three attempts; the other jobs are not affected',
    run: async (stage) => {
      const { world, account } = stage;
      const others: string[] = [];
      let poison: string | null = null;
      for (const attempt of [1, 2, 3]) {
        world.faults.arm('before-output-put', 'hold');
        poison ??= await createJob(account);
        await world.faults.fired('before-output-put');
        const held = poison;
        await until('the attempt is recorded', async () => (await attemptOf(stage, held)) === attempt);
        others.push(await createJob(account));
        // At the last crash it is running, too.
        if (attempt < 3) await mustSucceed(stage, others.at(-1) as string);
        killWorker(world, held);
        world.faults.clear();
      }
      must(poison !== null, 'no job was created');
      await mustBeGivenUp(stage, poison);
      for (const id of others) {
        await mustSucceed(stage, id);
        mustEqual(await attemptOf(stage, id), 1, 'attempts of another job');
      }
    },
  },
];

/** Steps of recorder and controller with a MediaJob, in their order. */
const AFTER_DISPATCH: readonly FaultPoint[] = [
  'after-dispatch',
  'before-attempt-start',
  'after-attempt-start',
  'before-final-commit',
];

/** Its process does nothing for a while, and then goes on as if it had not slept. */
async function standStill({ world, random }: Stage, point: FaultPoint): Promise<void> {
  world.kill('control', 'SIGSTOP');
  await delay(random.below(3000));
  world.kill('control', 'SIGCONT');
  world.faults.release(point);
}

/** Its output is what the work makes, in one file that can be read, once. */
async function mustSucceed({ account }: Stage, id: string): Promise<void> {
  const job = await ended(account, id);
  mustEqual([job.status, job.error], ['succeeded', null], id);
  const output = await account.call('GET', `/v1/jobs/${id}/output`);
  mustEqual(output.body, ROWS, 'the output');
}

async function mustBeGivenUp(stage: Stage, id: string): Promise<void> {
  const job = await ended(stage.account, id);
  mustEqual([job.status, job.error?.code, job.billed], ['failed', 'internal', false], id);
  mustEqual(await attemptOf(stage, id), 3, 'attempts');
}

async function attemptOf({ world }: Stage, id: string): Promise<number> {
  return Number((await world.query('select attempt from jobs where id = $1', [id]))[0]?.['attempt']);
}

/** Worker processes that run an attempt of the job. */
function workersOf(world: World, id: string): number[] {
  const mark = id.replace('_', '-');
  return world.processes().flatMap(({ pid, role }) => {
    const isOfJob =
      role === 'worker' && runsOfWorker(world.data, environmentOf(pid)).some((name) => name.includes(mark));
    return isOfJob ? [pid] : [];
  });
}

/** Returns an empty text when the process has ended. */
function environmentOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8');
  } catch {
    return '';
  }
}

function killWorker(world: World, id: string): void {
  for (const pid of workersOf(world, id)) process.kill(pid, 'SIGKILL');
}

/** Returns the upload URL of the job's first attempt, signed as the recorder signs it. */
async function outputUrlOf(world: World, id: string): Promise<string> {
  const control = world.processes().find(({ role }) => role === 'control');
  const texts = environmentOf(control?.pid ?? 0)
    .split('\0')
    .map((line): [string, string] => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]);
  const { files, close } = await openFiles(
    { clock: systemClock },
    loadConfig(settings.pick(FILE_SETTINGS), Object.fromEntries(texts)),
  );
  const [row] = await world.query('select dispatch from jobs where id = $1', [id]);
  const url = await files.signedPut(outputKey({ id }, String(row?.['dispatch']), 1), LAST_WRITE_SECONDS);
  close();
  return url;
}

/** Returns the status of a PUT to a signed URL of the file store, which listens on a unix socket. */
function put(url: string, body: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = startRequest(url, { method: 'PUT', agent: false });
    request.once('error', reject);
    request.once('response', (response) => {
      response.resume().once('end', () => resolve(response.statusCode ?? 0));
    });
    request.end(body);
  });
}
