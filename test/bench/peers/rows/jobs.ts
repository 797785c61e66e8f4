/** What a job costs besides its work: a small table from the call to its success. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { runInEngine } from '#test/bench/engine-run.ts';
import { upload } from '#test/support/run-through.ts';
import { untilSucceeded } from '../bench-job.ts';
import { startBenchService } from '../bench-service.ts';
import { closedLoop } from '../closed-loop.ts';
import { OURS } from '../measured.ts';
import type { ReadyPeer } from '../prepare-peers.ts';
import { Samples, type Bench, type CaseFigures, type Row } from '../row.ts';
import { freePort } from '../server-process.ts';

const ROWS = Buffer.from('id,name\n0010,Ada\n0011,Grace\n');
const CALLERS = [1, 4] as const;
const SECONDS = 5;
const NAME = 'csv of three lines to json';

export const jobs: Row = {
  title: 'What a job costs besides its work',
  about: `From the request that creates the job to the response that says \`succeeded\`, with the input already stored. The service:
\`POST /v1/jobs\` over HTTPS, then repeated \`GET\`; the job is in PostgreSQL, a worker process fetches the input by a signed
URL, opens it in a process of its own, and stores the result. BullMQ: a queue in Redis and a worker in the same process as the
caller, with the same engine process for the file, and nothing else.`,
  peers: ['BullMQ'],
  columns: CALLERS.flatMap((callers) => [
    {
      title: `a second, ${callers} at once`,
      metrics: [`per second at ${callers}`],
      digits: 2,
      noise: true,
      ratio: true,
    },
    { title: `ms p50 / p99, ${callers} at once`, metrics: [`p50 at ${callers}`, `p99 at ${callers}`], digits: 0 },
  ]),
  front: { speed: { metrics: CALLERS.map((callers) => `per second at ${callers}`), better: 'more' } },
  cases: [NAME],
  measure,
};

interface Queue {
  readonly who: string;
  /** Before time counts. */
  readonly prepare: () => Promise<void>;
  readonly run: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

async function* measure(bench: Bench): AsyncGenerator<CaseFigures> {
  const samples = new Samples();
  const bullMq = bench.peers.get('BullMQ');
  const queues: Queue[] = [];
  try {
    queues.push(await startOurs(bench));
    if (bullMq !== undefined) queues.push(await startBullMq(bench, bullMq));
    for (const queue of queues) await queue.run();
    for (let round = 0; round < bench.rounds; round += 1)
      for (const callers of CALLERS) await measureRound(queues, { callers, samples, say: bench.say });
  } finally {
    await Promise.all(queues.map((queue) => queue.stop()));
  }
  yield { name: NAME, figures: samples.figures };
}

async function measureRound(
  queues: readonly Queue[],
  { callers, samples, say }: { callers: number; samples: Samples; say: Bench['say'] },
): Promise<void> {
  for (const { who, prepare, run } of queues) {
    await prepare();
    say(`${callers} at once, ${who}`);
    const { perSecond, p50, p99 } = await closedLoop({ callers, seconds: SECONDS, send: run });
    samples.add(who, `per second at ${callers}`, perSecond);
    samples.add(who, `p50 at ${callers}`, p50);
    samples.add(who, `p99 at ${callers}`, p99);
  }
}

const UPLOADS = 200;

async function startOurs({ folder }: Bench): Promise<Queue> {
  const { api, stop } = await startBenchService(folder);
  // An upload is for one job; these are there before time counts.
  const uploads: string[] = [];
  const fill = async (): Promise<void> => {
    while (uploads.length < UPLOADS) uploads.push(await upload(api, ROWS, 'people.csv'));
  };
  return {
    who: OURS,
    prepare: fill,
    run: async () => {
      const input = { upload: uploads.pop() ?? (await upload(api, ROWS, 'people.csv')) };
      const json = { operation: 'convert', options: { convert: { to: 'json' } }, input };
      const created = await api('POST', '/v1/jobs', { json });
      if (created.status !== 202)
        throw new Error(`a job was answered with ${created.status}: ${created.bytes.toString()}`);
      await untilSucceeded(api, String(created.json()['id']));
    },
    stop,
  };
}

/** As much of the package as is called here. */
interface BullMq {
  readonly Queue: new (
    name: string,
    options: object,
  ) => {
    add(name: string, data: object): Promise<{ waitUntilFinished(events: object): Promise<unknown> }>;
    close(): Promise<void>;
  };
  readonly QueueEvents: new (
    name: string,
    options: object,
  ) => { waitUntilReady(): Promise<unknown>; close(): Promise<void> };
  readonly Worker: new (name: string, work: () => Promise<unknown>, options: object) => { close(): Promise<void> };
}

async function startBullMq({ folder }: Bench, { folder: home }: ReadyPeer): Promise<Queue> {
  const port = await freePort();
  const file = join(folder, 'people.csv');
  await writeFile(file, ROWS);
  const settings = ['--bind', '127.0.0.1', '--port', String(port), '--save', '', '--dir', folder];
  const redis = spawn('redis-server', settings, { stdio: 'ignore' });
  const { Queue, QueueEvents, Worker } = createRequire(join(home, 'package.json'))('bullmq') as BullMq;
  // It tries again until Redis answers.
  const connection = { host: '127.0.0.1', port, maxRetriesPerRequest: null };
  const [queue, events] = [new Queue('bench', { connection }), new QueueEvents('bench', { connection })];
  const convert = (): Promise<unknown> =>
    runInEngine({ path: file, operation: 'convert', options: { convert: { to: 'json' } } });
  const worker = new Worker('bench', async () => void (await convert()), {
    connection,
    concurrency: availableParallelism(),
  });
  await events.waitUntilReady();
  return {
    who: 'BullMQ',
    prepare: async () => {},
    run: async () => {
      const job = await queue.add('convert', {});
      await job.waitUntilFinished(events);
    },
    stop: async () => {
      await worker.close();
      await events.close();
      await queue.close();
      redis.kill('SIGTERM');
      await once(redis, 'exit');
    },
  };
}
