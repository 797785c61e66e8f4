/** What a job costs besides its work: a small table from the call to its success. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { runInEngine } from '#test/bench/engine-run.ts';
import { upload } from '#test/support/run-through.ts';
import { startBenchService } from '../bench-service.ts';
import { closedLoop } from '../closed-loop.ts';
import { OURS } from '../measured.ts';
import type { ReadyPeer } from '../prepare-peers.ts';
import { Samples, type Bench, type CaseFigures, type Row } from '../row.ts';

const ROWS = Buffer.from('id,name\n0010,Ada\n0011,Grace\n');
const CALLERS = [1, 4] as const;
const SECONDS = 8;
const NAME = 'csv of three lines to json';

export const jobs: Row = {
  title: 'What a job costs besides its work',
  about: `From the call that creates the job to the moment when it is known to have succeeded, the input already there. The service:
\`POST /v1/jobs\` over HTTPS, then \`GET\` again and again; the job is in PostgreSQL, a worker process fetches the input by a signed
URL, opens it in a process of its own, and stores the result. BullMQ: a queue in Redis and a worker in the same process as the
caller, with the very same engine process for the file, and nothing else.`,
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
  cases: [NAME],
  measure,
};

interface Queue {
  readonly who: string;
  readonly run: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

async function* measure(bench: Bench): AsyncGenerator<CaseFigures> {
  const samples = new Samples();
  const bullMq = bench.peers.get('BullMQ');
  const queues = [await startOurs(bench), ...(bullMq === undefined ? [] : [await startBullMq(bench, bullMq)])];
  try {
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
  for (const { who, run } of queues) {
    say(`${callers} at once, ${who}`);
    const { perSecond, p50, p99 } = await closedLoop({ callers, seconds: SECONDS, send: run });
    samples.add(who, `per second at ${callers}`, perSecond);
    samples.add(who, `p50 at ${callers}`, p50);
    samples.add(who, `p99 at ${callers}`, p99);
  }
}

const POLL_MS = 10;

async function startOurs({ folder }: Bench): Promise<Queue> {
  const { api, stop } = await startBenchService(folder);
  const input = { upload: await upload(api, ROWS, 'people.csv') };
  const body = { operation: 'convert', options: { convert: { to: 'json' } }, input };
  return {
    who: OURS,
    run: async () => {
      const id = String((await api('POST', '/v1/jobs', { json: body })).json()['id']);
      for (;;) {
        const { status, error } = (await api('GET', `/v1/jobs/${id}`)).json();
        if (status === 'succeeded') return;
        if (status !== 'queued' && status !== 'processing')
          throw new Error(`a job ended with ${JSON.stringify(error ?? status)}`);
        await delay(POLL_MS);
      }
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
  const socket = join(folder, 'bullmq.sock');
  const file = join(folder, 'people.csv');
  await writeFile(file, ROWS);
  const redis = spawn('redis-server', ['--port', '0', '--unixsocket', socket, '--save', '', '--dir', folder], {
    stdio: 'pipe',
  });
  for await (const said of redis.stdout) if (String(said).includes('Ready to accept')) break;
  redis.stdout.resume();
  const { Queue, QueueEvents, Worker } = createRequire(join(home, 'package.json'))('bullmq') as BullMq;
  const connection = { path: socket, maxRetriesPerRequest: null };
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
