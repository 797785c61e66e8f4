/**
 * Transfers of an attempt that lasts longer than the credentials of the service: those of a role are replaced every
 * hour, and URLs end with the credentials that signed them. Here they are valid for 60 seconds and are revoked sooner.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdtempDisposable, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { openS3Files, type S3Files } from '#api/files/s3-files.ts';
import { grantFromStore } from '#api/recorder/grant-transfer.ts';
import { serveWorkerPort } from '#controller/worker-port-server.ts';
import { resolveOptions } from '#crds/catalogue/options/options.ts';
import { fileLimits } from '#crds/catalogue/plans.ts';
import { heartbeatToken } from '#crds/contract/heartbeat-token.ts';
import { mediaJobName } from '#crds/contract/names.ts';
import { RUN_SPEC_FILE, TERMINATION_FILE } from '#crds/contract/run-files.ts';
import { runOutcomeSchema, type RunSpec } from '#crds/contract/run-spec.ts';
import { MemoryMediaJobs } from '#crds/media-jobs/memory-media-jobs.ts';
import { makeLog } from '#crds/process/log.ts';
import { startObjectStore, type ObjectStore, type StoreKey } from '#test/e2e/object-store.ts';
import { until } from '#test/e2e/commands.ts';
import { buildNewMediaJob, buildStatus, jobIdOf } from '#test/support/build-media-job.ts';
import { noisyPng } from '#test/support/engine-inputs.ts';
import { upload } from '#worker-image/transfer/upload.ts';

const MB = 1024 ** 2;
const BUCKET = 'files';
const SCRIPT = join(import.meta.dirname, '../../worker-image/run-job.ts');
let store: ObjectStore;
let folder: AsyncDisposable & { readonly path: string };
let files: S3Files;
let current: StoreKey | null = null;

beforeAll(async () => {
  store = await startObjectStore();
  await store.makeBucket(BUCKET);
  folder = await mkdtempDisposable(join(tmpdir(), 'credentials-'));
  const [config, credentials] = [join(folder.path, 'config'), join(folder.path, 'credentials.json')];
  await writeFile(config, `[default]\ncredential_process = cat ${credentials}\n`);
  vi.stubEnv('AWS_CONFIG_FILE', config);
  vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', join(folder.path, 'none'));
  await replaceCredentials();
  files = openS3Files({
    bucket: BUCKET,
    region: 'us-east-1',
    endpoint: store.endpoint,
    pathStyle: true,
    partBytes: 5 * MB,
    credentials: null,
  });
});
afterAll(async () => {
  vi.unstubAllEnvs();
  files.close();
  await store.close();
  await folder[Symbol.asyncDispose]();
});

/** Replaces the credentials as the service of a role does. The store refuses the earlier ones from now on. */
async function replaceCredentials(): Promise<void> {
  const key = await store.makeKey();
  const { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey } = key;
  const Expiration = new Date(Date.now() + 60_000).toISOString();
  const document = JSON.stringify({ Version: 1, AccessKeyId, SecretAccessKey, Expiration });
  await writeFile(join(folder.path, 'credentials.json'), document);
  await current?.revoke();
  current = key;
}

it('an attempt whose credentials end while it works stores its output with new ones', async () => {
  const input = await files.put('uploads/a', Readable.from([await noisyPng()]), { maxBytes: 10 * MB });
  const early = await files.signedPut('outputs/a', 13 * 3600);
  const clock = { now: () => new Date() };
  const key = Buffer.alloc(32, 1);
  const jobId = jobIdOf(1);
  const mediaJobs = new MemoryMediaJobs({ clock, newUid: () => 'uid' });
  await mediaJobs.create(buildNewMediaJob({ jobId }));
  const mediaJob = await mediaJobs.get(mediaJobName(jobId));
  if (mediaJob !== null) await mediaJobs.updateStatus(mediaJob, buildStatus({ attempt: 1 }));
  const keys = { input: 'uploads/a', output: 'outputs/a' };
  const port = await serveWorkerPort(
    {
      clock,
      log: makeLog('test', 'error'),
      mediaJobs,
      grantTransfer: ({ transfer }) => grantFromStore(files, keys, transfer),
    },
    { address: { host: '127.0.0.1', port: 0 }, key },
  );
  onTestFinished(() => port.close());
  const attempt = await startAttempt({
    jobId,
    attempt: 1,
    dispatch: 'nonce',
    operation: 'compress',
    options: resolveOptions(new Map([['image.format', 'webp']])),
    limits: fileLimits('payg'),
    features: { video: false, heicOutput: false },
    timeoutSeconds: 60,
    filename: 'photo.png',
    input: { etag: input.etag, size: input.size },
    heartbeat: { url: port.url, token: heartbeatToken(key, jobId, 1), intervalSeconds: 1 },
  });
  await attempt.untilOutput();
  await replaceCredentials();
  expect((await fetch(early, { method: 'PUT', body: 'late' })).status).toBe(403);
  const outcome = await attempt.end();
  expect(outcome).toMatchObject({ outcome: 'succeeded', report: { result: { output_format: 'webp' } } });
  const stored = await files.head('outputs/a');
  expect(outcome).toMatchObject({ report: { result: { output_size: stored?.size } } });
});

it('an output in parts survives credentials that end between two of them', async () => {
  const path = join(folder.path, 'output');
  await writeFile(path, Buffer.alloc(12 * MB, 7));
  await using file = await open(path);
  const numbers = new Set<number>();
  await upload(
    { now: () => performance.now(), wait: (ms, signal) => wait(ms, undefined, { signal }), random: () => 1 },
    {
      requestTransfer: async (transfer) => {
        // The first URL of a part may still be signed with the earlier credentials, which are not past their time.
        if (transfer.of === 'part' && !numbers.has(transfer.number)) await replaceCredentials();
        if (transfer.of === 'part') numbers.add(transfer.number);
        return grantFromStore(files, { input: 'uploads/a', output: 'outputs/b' }, transfer);
      },
      file,
      size: 12 * MB,
      contentType: 'application/octet-stream',
      signal: new AbortController().signal,
      onProgress: () => undefined,
    },
  );
  expect([...numbers]).toEqual([1, 2, 3]);
  expect((await files.head('outputs/b'))?.size).toBe(12 * MB);
});

/** Starts a worker that waits before it stores its output, until `end` lets it continue and returns its outcome. */
async function startAttempt(spec: RunSpec) {
  const [specFile, outcomeFile, faults] = ['spec.json', 'outcome.json', 'before-output-put'].map((name) =>
    join(folder.path, name),
  ) as [string, string, string];
  await writeFile(specFile, JSON.stringify(spec));
  await writeFile(faults, 'hold');
  const child = spawn(process.execPath, [SCRIPT], {
    env: {
      PATH: process.env['PATH'],
      TMPDIR: folder.path,
      MEDIAJOBS_LOG_LEVEL: 'error',
      MEDIAJOBS_ISOLATION: 'none',
      MEDIAJOBS_FAULTS_DIR: folder.path,
      [RUN_SPEC_FILE]: specFile,
      [TERMINATION_FILE]: outcomeFile,
    },
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  const ended = once(child, 'exit');
  return {
    untilOutput: () =>
      until('the attempt has its output', 60, () =>
        access(`${faults}.claimed`).then(
          () => true,
          () => null,
        ),
      ),
    end: async () => {
      await rm(`${faults}.claimed`);
      await ended;
      return runOutcomeSchema.parse(JSON.parse(await readFile(outcomeFile, 'utf8')));
    },
  };
}
