import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { resolveOptions } from '#crds/catalogue/options/options.ts';
import { fileLimits } from '#crds/catalogue/plans.ts';
import { parseRunOutcome, type RunOutcome, type RunSpec } from '#crds/contract/run-spec.ts';
import { makeLog } from '#crds/process/log.ts';
import { noisyPng } from '#test/support/engine-inputs.ts';
import { startStoreHost, type StoreHost, type StoreHostOptions } from '#test/support/store-host.ts';
import { PhaseTimes } from '#worker-image/phase-times.ts';
import { runAttempt, type AttemptDeps } from '#worker-image/run-attempt.ts';
import { EngineKilled } from '#worker-image/sandbox/engine-channel.ts';
import { SandboxedEngine } from '#worker-image/sandbox/sandboxed-engine.ts';
import { NO_ISOLATION } from '#worker-image/tools/isolation.ts';
import { TransferFailed } from '#worker-image/transfer/retry-transfer.ts';

const ETAG = '"v1"';
const CLOCK = { now: () => performance.now(), wait: async () => undefined, random: () => 0 };
const log = makeLog('test', 'silent');
let image: Buffer;
let folder: string;
let engine: SandboxedEngine;
let host: StoreHost | null;

beforeAll(async () => {
  image = await noisyPng();
});
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'run-attempt-'));
  engine = new SandboxedEngine({ log }, { folder, isolation: NO_ISOLATION });
  host = null;
});
afterEach(async () => {
  await engine.kill();
  await host?.close();
  await rm(folder, { recursive: true, maxRetries: 5 });
});

async function attempt(
  served: StoreHostOptions,
  { deps = {}, spec = {} }: { deps?: Partial<AttemptDeps>; spec?: Partial<RunSpec> } = {},
): Promise<RunOutcome> {
  host = await startStoreHost({ etag: ETAG, ...served });
  const { url } = host;
  const phases = new PhaseTimes(CLOCK.now, CLOCK.now());
  const rest = { versions: Promise.resolve({}), log, phases, onPercent: () => undefined, ...CLOCK };
  const given: RunSpec = {
    jobId: 'job_00000000000000000000',
    attempt: 1,
    operation: 'compress',
    options: resolveOptions(new Map([['image.format', 'webp']])),
    limits: fileLimits('payg'),
    features: { video: false, heicOutput: false },
    timeoutSeconds: 60,
    filename: 'photo.png',
    dispatch: 'nonce',
    input: { etag: ETAG, size: null },
    heartbeat: { url: `${url}/heartbeat`, token: 'token', intervalSeconds: 60 },
  };
  return runAttempt({ ...rest, engine, signal: new AbortController().signal, ...deps }, { ...given, ...spec }, folder);
}

describe('runAttempt', () => {
  it('uploads the result and reports the progress of all three steps', async () => {
    const percents: number[] = [];
    const outcome = await attempt({ input: image }, { deps: { onPercent: (percent) => percents.push(percent) } });
    const [output] = host?.outputs ?? [];
    expect(outcome).toMatchObject({
      outcome: 'succeeded',
      report: { result: { output_format: 'webp', output_size: output?.length } },
    });
    expect(percents).toContain(10);
    expect(percents.at(-1)).toBe(99);
    expect(percents).toEqual(percents.toSorted((one, other) => one - other));
  });

  it('fails with the code of a refused file', async () => {
    expect(await attempt({ input: Buffer.from('plain words') })).toMatchObject({
      outcome: 'failed',
      error: { code: 'unsupported_input' },
    });
  });

  it('reports the times of its phases where it is asked for them', async () => {
    const spec = { isTraced: true } as const;
    const names = (outcome: RunOutcome): unknown => outcome.phases?.map(({ phase }) => phase);
    const outcome = await attempt({ input: image }, { spec });
    expect(names(outcome)).toEqual(['fetch', 'process', 'upload']);
    expect(parseRunOutcome(JSON.stringify(outcome))).toEqual(outcome);
    await host?.close();
    engine = new SandboxedEngine({ log }, { folder, isolation: NO_ISOLATION });
    expect(names(await attempt({ input: Buffer.from('plain words') }, { spec }))).toEqual(['fetch', 'process']);
  });

  it('reports no times otherwise', async () => {
    expect(await attempt({ input: image })).not.toHaveProperty('phases');
  });

  it('fails with timeout when its time has passed, although nobody aborted it', async () => {
    expect(await attempt({ input: image, hangs: true }, { spec: { timeoutSeconds: 0.2 } })).toMatchObject({
      outcome: 'failed',
      error: { code: 'timeout', message: expect.stringContaining('0.2 seconds') },
    });
  });

  it('throws what another attempt may mend: a refused upload', async () => {
    await expect(attempt({ input: image, faults: { PUT: [403, 403, 403] } })).rejects.toThrow(TransferFailed);
  });

  it('throws what another attempt may mend: a killed engine process', async () => {
    await engine.kill();
    await expect(attempt({ input: image })).rejects.toThrow(EngineKilled);
  });

  it('throws the reason of an abort', async () => {
    const reason = new Error('fenced');
    await expect(attempt({ input: image }, { deps: { signal: AbortSignal.abort(reason) } })).rejects.toBe(reason);
  });
});
