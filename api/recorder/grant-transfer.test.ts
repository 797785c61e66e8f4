import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { openDiskFiles } from '#api/files/disk-files.ts';
import { endJob, recordProgress, setDispatches } from '#api/jobs/job-progress-rows.ts';
import { makeDescribeInput, makeGrantTransfer } from '#api/recorder/grant-transfer.ts';
import { serveTransfers } from '#api/recorder/serve-transfers.ts';
import { completeByRecorder, forwardTransfers } from '#controller/recorder-client.ts';
import type { Transfer } from '#crds/contract/transfer-urls.ts';
import { heartbeatToken } from '#crds/contract/heartbeat-token.ts';
import { makeLog } from '#crds/process/log.ts';
import { buildRunRequest } from '#test/contract/runs.ts';
import { testDatabase } from '#test/support/database.ts';
import { buildAccount, buildJob } from '#test/support/job-builder.ts';

const KEY = Buffer.alloc(32, 1);
const OUTPUT: Transfer = { of: 'output', size: 1000 };
const log = makeLog('test', 'silent');
const database = await testDatabase();
const directory = await mkdtempDisposable(join(tmpdir(), 'grants-'));
const files = await openDiskFiles({
  clock: { now: () => new Date() },
  directory: directory.path,
  baseUrl: 'http://127.0.0.1:1',
  linkKeys: [{ id: 'k1', key: Buffer.alloc(32, 7) }],
});
const recorder = await serveTransfers(
  { grant: makeGrantTransfer({ database, files }), describe: makeDescribeInput({ database }), log },
  { address: { host: '127.0.0.1', port: 0 }, key: KEY },
);
const url = `http://127.0.0.1:${recorder.port}/transfer`;
/** As a controller asks the recorder. */
const grant = forwardTransfers({ url, key: KEY });
const complete = completeByRecorder({ url, key: KEY });
afterAll(async () => {
  await recorder.close();
  await directory[Symbol.asyncDispose]();
});

describe('a recorder that grants transfers', () => {
  let jobId: string;
  beforeEach(async () => {
    await database.query('delete from jobs');
    const job = await buildJob(database, (await buildAccount(database)).id);
    jobId = job.id;
    await setDispatches(database, new Map([[job, 'n1']]));
  });
  const granted = async (transfer: Transfer, { attempt = 1, dispatch = 'n1' } = {}) => {
    const found = await grant({ jobId, attempt, dispatch, transfer });
    return found !== null && 'url' in found ? new URL(found.url).pathname : found;
  };

  it('signs the input of the job and an output for each attempt of a MediaJob', async () => {
    expect(await granted({ of: 'input' })).toBe(`/files/inputs/${jobId}`);
    expect(await granted(OUTPUT)).toBe(`/files/outputs/${jobId}/n1-1`);
    expect(await granted(OUTPUT, { attempt: 2 })).toBe(`/files/outputs/${jobId}/n1-2`);
  });

  it('grants nothing to an attempt of an earlier MediaJob, to an earlier attempt or for another job', async () => {
    expect(await granted(OUTPUT, { dispatch: 'n0' })).toBeNull();
    await recordProgress(
      database,
      { id: jobId, dispatch: 'n1' },
      { attempt: 2, disruptions: 0, startedAt: null, percent: 0 },
    );
    expect(await granted(OUTPUT)).toBeNull();
    expect(await granted(OUTPUT, { attempt: 2 })).not.toBeNull();
    jobId = 'job_00000000000000000000';
    expect(await granted(OUTPUT, { attempt: 2 })).toBeNull();
  });

  it('grants nothing after the end of the job', async () => {
    const at = new Date();
    await endJob(database, jobId, {
      status: 'failed',
      completedAt: at,
      startedAt: null,
      result: null,
      report: null,
      error: { type: 'api_error', code: 'internal', message: 'No.' },
      billed: false,
      outputKey: null,
      expiresAt: at,
      filesDeletedAt: null,
      fence: null,
    });
    expect(await granted({ of: 'input' })).toBeNull();
    expect(await granted(OUTPUT)).toBeNull();
  });

  it('returns the input of a current attempt, with which the controller completes its spec', async () => {
    const request = buildRunRequest('any');
    const run = { ...request, spec: { ...request.spec, jobId }, dispatch: 'n1' };
    expect(await complete(run)).toMatchObject({
      jobId,
      attempt: 1,
      dispatch: 'n1',
      filename: 'photo.jpg',
      input: { etag: expect.stringMatching(/./) },
      heartbeat: { token: heartbeatToken(KEY, jobId, 1) },
    });
    expect(await complete({ ...run, dispatch: 'n0' })).toBeNull();
  });

  it('refuses a controller with another key', async () => {
    const stranger = forwardTransfers({ url, key: Buffer.alloc(32, 2) });
    const request = { jobId, attempt: 1, dispatch: 'n1', transfer: OUTPUT };
    await expect(stranger(request)).rejects.toThrow('status 401');
    expect((await fetch(url, { method: 'POST', body: '{' })).status).toBe(400);
    expect((await fetch(new URL('/other', url), { method: 'POST' })).status).toBe(404);
  });
});
