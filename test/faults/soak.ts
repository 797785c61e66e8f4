/**
 * Random commands of callers, operators and faults, by fast-check, against the running service and the model. After
 * them all work is completed and the invariants are checked.
 */
import fc from 'fast-check';
import type { Fault, FaultPoint } from '#crds/process/fault-point.ts';
import { countUnfinished, CSV, direct, TO_JSON, type Reply } from '#test/faults/account.ts';
import {
  afterReading,
  EMPTY,
  mayRespondJobOn,
  mayRespondOutput,
  withJob,
  withUpload,
  type JobModel,
  type Model,
} from '#test/faults/model.ts';
import { isFinal } from '#test/faults/life-cycles.ts';
import { answering } from '#test/faults/receiver.ts';
import { must, type Scenario, type Stage } from '#test/faults/scenario.ts';
import { until } from '#test/faults/until.ts';

export const SOAK: Scenario = {
  name: 'random-soak',
  breaks: 'random requests, faults and hours, by seed',
  holds: 'every response is one that the model allows, and all invariants',
  repeats: 8,
  extraBuckets: 8,
  run: async (stage) => {
    const [commands] = fc.sample(fc.array(command, { minLength: 12, maxLength: 25 }), {
      numRuns: 1,
      seed: stage.random.below(2 ** 30),
    });
    let model = EMPTY;
    const done: string[] = [];
    for (const next of commands ?? []) {
      done.push(JSON.stringify(next));
      model = await carryOut(stage, model, next).catch((error: unknown) => {
        throw new Error(`${(error as Error).message}\nafter ${done.join(' ')}`, { cause: error });
      });
    }
  },
};

type Command =
  | { readonly do: 'upload'; readonly content: 'good' | 'bad' | 'none' }
  | {
      readonly do: 'create job';
      readonly of: number;
      readonly key: number | null;
      readonly hook: boolean;
      readonly sendsOutput: boolean;
    }
  | { readonly do: 'fetch job'; readonly key: number | null }
  | { readonly do: 'read' | 'cancel' | 'download'; readonly of: number }
  | { readonly do: 'direct'; readonly content: 'good' | 'bad' }
  | { readonly do: 'add endpoint' | 'receiver fails' | 'receiver works' }
  | { readonly do: 'wait'; readonly seconds: number }
  | { readonly do: 'jobs end' }
  | { readonly do: 'arm'; readonly point: FaultPoint; readonly fault: Fault }
  | { readonly do: 'kill'; readonly role: 'api' | 'control' | 'courier' | 'engine' }
  | { readonly do: 'lose commit'; readonly statement: string }
  | { readonly do: 'cut'; readonly server: 'postgres' | 'redis' };

const of = fc.nat(9);
const key = fc.option(fc.nat(2), { nil: null });
const constant = <const T>(value: T) => fc.constant(value);
const POINTS: readonly FaultPoint[] = [
  'after-idempotency-claim',
  'before-job-commit',
  'after-job-insert',
  'after-upload-stored',
  'before-direct-count',
  'after-direct-count',
  'before-engine-response',
  'before-dispatch',
  'after-dispatch',
  'before-attempt-start',
  'after-attempt-start',
  'before-output-put',
  'after-output-put',
  'after-outcome',
  'after-input-stored',
  'after-output-sent',
  'before-final-commit',
  'after-final-commit',
  'before-webhook-post',
  'after-webhook-response',
  'after-file-deletion',
];
const STATEMENTS = [
  'insert into jobs',
  'insert into ledger',
  'update jobs set status',
  'update transfers',
  'update webhook_deliveries',
  'insert into uploads',
];

const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: constant('upload'), content: fc.constantFrom('good', 'good', 'bad', 'none') }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ do: constant('create job'), of, key, hook: fc.boolean(), sendsOutput: fc.boolean() }),
  },
  { weight: 2, arbitrary: fc.record({ do: constant('fetch job'), key }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('read', 'cancel', 'download'), of }) },
  { weight: 2, arbitrary: fc.record({ do: constant('direct'), content: fc.constantFrom('good', 'bad') }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('add endpoint', 'receiver fails', 'receiver works') }) },
  { weight: 2, arbitrary: fc.record({ do: constant('wait'), seconds: fc.constantFrom(1, 11, 70, 3700, 25 * 3600) }) },
  { weight: 2, arbitrary: fc.record({ do: constant('jobs end') }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: constant('arm'),
      point: fc.constantFrom(...POINTS),
      fault: fc.constantFrom('crash', 'crash', 'fail'),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: constant('kill'), role: fc.constantFrom('api', 'control', 'courier', 'engine') }),
  },
  { weight: 2, arbitrary: fc.record({ do: constant('lose commit'), statement: fc.constantFrom(...STATEMENTS) }) },
  { weight: 1, arbitrary: fc.record({ do: constant('cut'), server: fc.constantFrom('postgres', 'redis') }) },
);

/** The model after the command. @throws Error when a response is not one that the model allows */
async function carryOut(stage: Stage, model: Model, next: Command): Promise<Model> {
  const { world, account } = stage;
  switch (next.do) {
    case 'upload':
      return sendUpload(stage, model, next.content);
    case 'create job':
      return createOnUpload(stage, model, next);
    case 'fetch job':
      return created(model, await sendJob(stage, { url: account.url('people.csv') }, next), {
        key: next.key,
        upload: null,
      });
    case 'read':
    case 'cancel':
    case 'download':
      return askJob(stage, model, next);
    case 'direct': {
      const { status } = await direct(account, next.content === 'good' ? CSV : '"never closed');
      must(
        [0, 500, 503, next.content === 'good' ? 200 : 422].includes(status),
        `a ${next.content} file was answered with ${status}`,
      );
      return model;
    }
    case 'add endpoint':
      await account.call('POST', '/v1/webhook_endpoints', {
        json: { url: account.url(`endpoint${stage.random.below(1000)}`) },
      });
      return model;
    case 'receiver fails':
    case 'receiver works':
      world.receiver.behave(account.path, next.do === 'receiver fails' ? failing : working);
      return model;
    case 'wait':
      if (next.seconds > 20) await quietly(stage);
      await world.clock.pass(next.seconds);
      return model;
    case 'jobs end':
      await quietly(stage);
      return model;
    case 'arm':
      world.faults.arm(next.point, next.fault);
      return model;
    case 'kill':
      if (world.processes().some(({ role }) => role === next.role)) world.kill(next.role);
      return model;
    case 'lose commit':
      void world.postgres.proxy.dropCommitReply(next.statement);
      return model;
    case 'cut':
      world[next.server].proxy.reset();
      return model;
  }
}

const working: Parameters<Stage['world']['receiver']['behave']>[1] = (response, { method }) =>
  method === 'GET'
    ? void response.writeHead(200, { 'content-length': CSV.length }).end(CSV)
    : void response.writeHead(204).end();
const failing: typeof working = (response, received) =>
  received.headers['svc-event-id'] === undefined ? working(response, received) : answering(500)(response, received);

/** Everything is mended and no job is unfinished: only then may hours pass that no attempt would survive. */
async function quietly({ world, account }: Stage): Promise<void> {
  await world.heal();
  await until(
    'every job ends',
    async () => {
      const unfinished = await countUnfinished(world, account);
      const waits = await world.query(
        `select 1 from transfers where done_at is null and greatest(next_at, lease_until) > $1`,
        [world.clock.now()],
      );
      if (waits.length > 0) await world.clock.passGently(20);
      return unfinished === 0;
    },
    { seconds: 90, everyMs: 200 },
  );
}

const isLost = ({ status }: Reply): boolean => status === 0 || status >= 500;

async function sendUpload({ world, account }: Stage, model: Model, content: 'good' | 'bad' | 'none'): Promise<Model> {
  const bytes = content === 'bad' ? Buffer.from('"never closed') : CSV;
  const made = await account.call('POST', '/v1/uploads', { json: { size: bytes.length, filename: 'people.csv' } });
  if (isLost(made)) return model;
  must(made.status === 201, `an upload was answered with ${made.status}`);
  const { id, url, expires_at: expires } = made.body;
  const upload = { id, url, state: 'created', jobs: [], expiresAt: Date.parse(expires) } as const;
  if (content === 'none') return withUpload(model, upload);
  const sent = await account.call('PUT', url, { body: bytes });
  // Its existence is unknown, so it is not requested again.
  if (isLost(sent)) return model;
  must(sent.status === 200, `content was answered with ${sent.status} at ${world.clock.now().toISOString()}`);
  return withUpload(model, { ...upload, state: 'uploaded' });
}

interface JobFields {
  readonly key: number | null;
  readonly hook?: boolean;
  readonly sendsOutput?: boolean;
}

function sendJob(
  { account }: Stage,
  input: object,
  { key: number, hook = false, sendsOutput = false }: JobFields,
): Promise<Reply> {
  const headers: Record<string, string> =
    number === null ? {} : { 'idempotency-key': `key-${number}-${JSON.stringify(input)}` };
  const json = {
    ...TO_JSON,
    input,
    ...(hook ? { webhook_url: account.url('hook') } : {}),
    ...(sendsOutput ? { output: { url: account.url('output') } } : {}),
  };
  return account.call('POST', '/v1/jobs', { body: JSON.stringify(json), headers });
}

async function createOnUpload(
  stage: Stage,
  model: Model,
  { of: index, ...fields }: Command & { do: 'create job' },
): Promise<Model> {
  const uploads = [...model.uploads.values()];
  const upload = uploads[index % Math.max(1, uploads.length)];
  if (upload === undefined) return model;
  const known = await readJobs(stage, model, upload.jobs);
  const reply = await sendJob(stage, { upload: upload.id }, fields);
  const isReplay =
    reply.headers['svc-idempotent-replayed'] === 'true' || reply.body?.error?.code?.startsWith('idempotency') === true;
  const now = stage.world.clock.now().getTime();
  must(
    isLost(reply) || isReplay || mayRespondJobOn(known, upload.id, { status: reply.status, now }),
    `a job on an upload that is ${upload.state} with ${upload.jobs.length} jobs was answered with ${reply.status}`,
  );
  // A response that got lost may have made a job: it is not used again.
  if (isLost(reply)) return { ...known, uploads: new Map([...known.uploads].filter(([id]) => id !== upload.id)) };
  return created(known, reply, { key: fields.key, upload: upload.id });
}

function created(
  model: Model,
  reply: Reply,
  { key: number, upload }: { key: number | null; upload: string | null },
): Model {
  if (reply.status !== 202) return model;
  const id = String(reply.body.id);
  const job: JobModel = model.jobs.get(id) ?? {
    id,
    seen: 'queued',
    idempotencyKey: number === null ? null : String(number),
    completedAt: null,
    filesDeleted: false,
  };
  const used = upload === null ? undefined : model.uploads.get(upload);
  const linked = used === undefined ? model : withUpload(model, { ...used, jobs: [...new Set([...used.jobs, id])] });
  return withJob(linked, job);
}

async function readJobs(stage: Stage, model: Model, ids: readonly string[]): Promise<Model> {
  let known = model;
  for (const id of ids) known = await readJob(stage, known, id);
  return known;
}

async function readJob({ account }: Stage, model: Model, id: string): Promise<Model> {
  const job = model.jobs.get(id);
  const reply = await account.call('GET', `/v1/jobs/${id}`);
  if (job === undefined || isLost(reply)) return model;
  must(reply.status === 200, `${id} was answered with ${reply.status}`);
  return withJob(model, afterReading(job, reply.body));
}

async function askJob(
  stage: Stage,
  model: Model,
  { do: what, of: index }: Command & { do: 'read' | 'cancel' | 'download' },
): Promise<Model> {
  const job = [...model.jobs.values()][index % Math.max(1, model.jobs.size)];
  if (job === undefined) return model;
  if (what === 'download') {
    const reply = await stage.account.call('GET', `/v1/jobs/${job.id}/output`);
    must(
      isLost(reply) || mayRespondOutput(job, reply.status),
      `the output of a job that is ${job.seen} was answered with ${reply.status}`,
    );
    return model;
  }
  if (what === 'read') return readJob(stage, model, job.id);
  const reply = await stage.account.call('DELETE', `/v1/jobs/${job.id}`);
  if (isLost(reply)) return model;
  must(
    reply.status === 200 && isFinal(reply.body.status),
    `DELETE was answered with ${reply.status} ${reply.body?.status}`,
  );
  return withJob(model, afterReading(job, reply.body));
}
