import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { resolveOptions, type ResolvedOptions } from '#crds/catalogue/options/options.ts';
import { fileLimits } from '#crds/catalogue/plans.ts';
import { RUN_SPEC_FILE, TERMINATION_FILE } from '#crds/contract/run-files.ts';
import { runOutcomeSchema, type RunOutcome, type RunSpec } from '#crds/contract/run-spec.ts';
import { startStoreHost, type Beat, type StoreHost, type StoreHostOptions } from '#test/support/store-host.ts';

const SCRIPT = join(import.meta.dirname, 'run-job.ts');
const ETAG = '"v1"';
let photo: Buffer;
let directory: string;
let host: StoreHost | null;

beforeAll(async () => {
  const noise = { type: 'gaussian', mean: 128, sigma: 40 } as const;
  photo = await sharp({ create: { width: 600, height: 400, channels: 3, background: '#888', noise } })
    .jpeg({ quality: 98 })
    .toBuffer();
});
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'run-job-'));
  host = null;
});
afterEach(async () => {
  await host?.close();
  await rm(directory, { recursive: true });
});

describe('run-job', () => {
  it('processes a photo and writes its outcome', async () => {
    const { code, outcome } = await run({ input: photo }, { options: compressTo('webp') });
    expect(code).toBe(0);
    expect(outcome).toMatchObject({
      outcome: 'succeeded',
      report: { result: { kind: 'image', input_format: 'jpg', output_format: 'webp', kept_original: false } },
    });
    const [output] = host?.outputs ?? [];
    expect((await sharp(output).metadata()).format).toBe('webp');
    expect(outcome).toMatchObject({ report: { result: { original_size: photo.length, output_size: output?.length } } });
  });

  // Promise, States: Processing begins with the worker's first heartbeat; percent never decreases
  it('sends heartbeats with its token from the start, in which the percent never falls', async () => {
    await run({ input: photo }, {});
    const beats = host?.beats ?? [];
    expect(beats[0]).toEqual({ percent: 0, authorization: 'Bearer beat-token' });
    expect(beats.map(({ percent }) => percent)).toEqual(beats.map(({ percent }) => percent).toSorted((a, b) => a - b));
  });

  it('leaves no file of the caller', async () => {
    await run({ input: photo }, {});
    expect((await readdir(directory)).toSorted()).toEqual(['outcome.json', 'run-spec.json']);
  });

  it('retries after faults of the store', async () => {
    const { outcome } = await run({ input: photo, faults: { GET: [503, 'cut'], PUT: [500] } }, {});
    expect(outcome?.outcome).toBe('succeeded');
    expect(host?.seen).toEqual(['GET 503', 'GET 200', 'GET 200', 'PUT 500', 'PUT 200']);
  });

  // Promise, Bad input, case by case: Uploads used or changed
  // Promise, Jobs: Input_missing, input_changed, and the codes of the engine
  it.each<[string, StoreHostOptions, Partial<RunSpec>]>([
    ['input_missing', {}, {}],
    ['input_changed', { input: Buffer.from('x'), etag: '"v2"' }, {}],
    ['unsupported_input', { input: Buffer.from('plain words') }, {}],
    ['processing_failed', { input: Buffer.from('\xff\xd8\xff\xe0 no picture', 'latin1') }, {}],
    ['timeout', { input: Buffer.alloc(1000), hangs: true }, { timeoutSeconds: 1 }],
  ])('fails with %s', async (code, served, spec) => {
    const ended = await run(served, spec);
    expect(ended).toMatchObject({ code: 0, outcome: { outcome: 'failed', error: { code } } });
  });

  // Promise, Bad input, case by case: Uploads used or changed
  it('fails with input_changed when the size differs', async () => {
    const { outcome } = await run({ input: photo }, {}, { size: photo.length + 1 });
    expect(outcome).toMatchObject({ error: { code: 'input_changed' } });
  });

  it('ends without an outcome when the store refuses the output', async () => {
    expect(await run({ input: photo, faults: { PUT: [403, 403, 403] } }, {})).toEqual({
      code: 1,
      signal: null,
      outcome: null,
    });
  });

  it('ends without an outcome when the controller has fenced the attempt', async () => {
    expect(await run({ input: Buffer.alloc(1000), hangs: true, beatStatus: 410 }, {})).toEqual({
      code: 143,
      signal: null,
      outcome: null,
    });
  });

  it('ends without an outcome on SIGTERM', async () => {
    expect(
      await run({ input: Buffer.alloc(1000), hangs: true }, {}, { onStart: (child) => child.kill('SIGTERM') }),
    ).toEqual({ code: 143, signal: null, outcome: null });
  });

  it('ends when its owner closes its standard input', async () => {
    expect(
      await run({ input: Buffer.alloc(1000), hangs: true }, {}, { onStart: (child) => child.stdin?.end() }),
    ).toEqual({ code: 143, signal: null, outcome: null });
  });
});

interface Started {
  readonly kill: (signal: NodeJS.Signals) => boolean;
  readonly stdin: { end(): unknown } | null;
}

/** Runs an attempt to its end. Calls `onStart` at the first heartbeat. */
async function run(
  served: StoreHostOptions,
  more: Partial<RunSpec>,
  extra: { size?: number; onStart?: (child: Started) => void } = {},
) {
  let started: Started | null = null;
  const onBeat = (_beat: Beat): void => {
    if (started !== null) extra.onStart?.(started);
    started = null;
  };
  host = await startStoreHost({ etag: ETAG, onBeat, ...served });
  const specFile = join(directory, 'run-spec.json');
  const outcomeFile = join(directory, 'outcome.json');
  await writeFile(specFile, JSON.stringify({ ...specOf(host.url, extra.size ?? null), ...more }));
  const child = spawn(process.execPath, [SCRIPT], {
    env: {
      PATH: process.env.PATH,
      TMPDIR: directory,
      MEDIAJOBS_LOG_LEVEL: 'error',
      [RUN_SPEC_FILE]: specFile,
      [TERMINATION_FILE]: outcomeFile,
    },
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  started = child;
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  const text = await readFile(outcomeFile, 'utf8').catch(() => null);
  const outcome: RunOutcome | null = text === null ? null : runOutcomeSchema.parse(JSON.parse(text));
  return { code, signal, outcome };
}

function specOf(url: string, size: number | null): RunSpec {
  return {
    jobId: 'job_00000000000000000000',
    attempt: 1,
    operation: 'compress',
    options: resolveOptions(new Map()),
    limits: fileLimits('payg'),
    features: { video: false, heicOutput: false },
    timeoutSeconds: 60,
    filename: 'photo.jpg',
    dispatch: 'nonce',
    input: { etag: ETAG, size },
    heartbeat: { url: `${url}/heartbeat`, token: 'beat-token', intervalSeconds: 0.2 },
  };
}

function compressTo(format: ResolvedOptions['image']['format']): ResolvedOptions {
  return resolveOptions(new Map([['image.format', format]]));
}
