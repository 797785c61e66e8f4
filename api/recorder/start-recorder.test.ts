import { describe, expect, it, vi } from 'vitest';
import { dispatchJobs } from '#api/recorder/dispatch-jobs.ts';
import { mediaJobsToProject, projectMediaJob, type ProjectDeps } from '#api/recorder/project-media-job.ts';
import { settleTransfers } from '#api/recorder/settle-transfers.ts';
import { makeJobReader } from '#api/jobs/job-reader.ts';
import { makeSecretBox } from '#api/store/secret-box.ts';
import { newId } from '#crds/contract/ids.ts';
import type { MediaJob, MediaJobStatus } from '#crds/contract/media-job.ts';
import { MemoryMediaJobs } from '#crds/media-jobs/memory-media-jobs.ts';
import { mediaJobName } from '#crds/contract/names.ts';
import { makeLog } from '#crds/process/log.ts';
import { testDatabase } from '#test/support/database.ts';
import { buildAccount, buildJob, buildReport, nonce, readJob } from '#test/support/job-builder.ts';
import { refuseUpdates } from '#test/support/refuse-updates.ts';
import { beforeEach } from 'vitest';

const NOW = new Date('2026-01-01T12:00:00Z');
const clock = { now: () => NOW };
const key = { id: 'k1', key: Buffer.alloc(32, 7) };
const database = await testDatabase();

let deps: ProjectDeps;
beforeEach(async () => {
  await database.query('delete from transfers');
  await database.query('delete from jobs');
  deps = {
    database,
    clock,
    newId,
    log: makeLog('test', 'error'),
    tracing: null,
    secretBox: makeSecretBox([key]),
    baseUrl: 'https://media.test',
    linkKeys: [key],
    mediaJobs: new MemoryMediaJobs({ clock, newUid: nonce }),
    newNonce: nonce,
    heartbeatKey: Buffer.alloc(32, 1),
    maxUnfinishedJobs: 100,
    keepFinishedSeconds: 60,
    readJob: makeJobReader(database),
    ticketsSeen: new Map(),
    beingCreated: new Set(),
  };
});

async function mediaJobOf(id: string): Promise<MediaJob> {
  const mediaJob = await deps.mediaJobs.get(mediaJobName(id));
  if (mediaJob === null) throw new Error('no MediaJob');
  return mediaJob;
}

const status = (more: Partial<MediaJobStatus>): MediaJobStatus => ({
  phase: 'Running',
  attempt: 1,
  disruptions: null,
  percent: 0,
  startedAt: NOW.toISOString(),
  completedAt: null,
  reason: 'Running',
  message: null,
  node: null,
  report: null,
  error: null,
  ...more,
});

async function report(id: string, more: Partial<MediaJobStatus>): Promise<void> {
  await deps.mediaJobs.updateStatus(await mediaJobOf(id), status(more));
  await projectMediaJob(deps, mediaJobName(id));
}

async function dispatched(more: Parameters<typeof buildJob>[2] = {}): Promise<string> {
  const job = await buildJob(database, (await buildAccount(database)).id, more);
  await dispatchJobs(deps);
  return job.id;
}

describe('dispatchJobs', () => {
  it('dispatches round robin between accounts, up to the limit of open MediaJobs', async () => {
    const [greedy, modest] = [await buildAccount(database), await buildAccount(database)];
    for (let index = 0; index < 6; index += 1) await buildJob(database, greedy.id);
    const late = await buildJob(database, modest.id, { createdAt: new Date('2026-01-02T00:00:00Z') });
    deps = { ...deps, maxUnfinishedJobs: 2 };
    expect(await dispatchJobs(deps)).toBe(2);
    const accounts = (await deps.mediaJobs.list()).map(({ spec }) => spec.account);
    expect(accounts.toSorted()).toEqual([greedy.id, modest.id].toSorted());
    expect(await deps.mediaJobs.get(mediaJobName(late.id))).not.toBeNull();
    expect(await dispatchJobs(deps)).toBe(0);
  });

  it('exceeds the limit by at most 5 % for accounts that have no MediaJob', async () => {
    const accounts = [await buildAccount(database), await buildAccount(database), await buildAccount(database)];
    const [greedy, modest, third] = accounts.map(({ id }) => id) as [string, string, string];
    deps = { ...deps, maxUnfinishedJobs: 2 };
    for (let index = 0; index < 4; index += 1) await buildJob(database, greedy);
    expect(await dispatchJobs(deps)).toBe(2);
    await buildJob(database, modest);
    await buildJob(database, modest);
    expect(await dispatchJobs(deps)).toBe(1);
    await buildJob(database, third);
    expect(await dispatchJobs(deps)).toBe(0);
    const dispatchedTo = (await deps.mediaJobs.list()).map(({ spec }) => spec.account);
    expect(dispatchedTo.toSorted()).toEqual([greedy, greedy, modest].toSorted());
  });

  it('keeps no slot for jobs whose input is still being fetched, which have as many of their own', async () => {
    deps = { ...deps, maxUnfinishedJobs: 2 };
    const { id: account } = await buildAccount(database);
    const fetching = { inputStored: false };
    for (let index = 0; index < 3; index += 1) await buildJob(database, account, fetching);
    expect(await dispatchJobs(deps)).toBe(2);
    for (let index = 0; index < 3; index += 1) await buildJob(database, account);
    expect(await dispatchJobs(deps)).toBe(2);
    const suspended = (await deps.mediaJobs.list()).map(({ spec }) => spec.suspend);
    expect(suspended.toSorted()).toEqual([false, false, true, true]);
  });

  it('writes no file name, URL or secret into the MediaJob', async () => {
    const id = await dispatched({ inputFilename: 'secret-name.jpg', metadata: { note: 'secret-note' } });
    expect(JSON.stringify(await mediaJobOf(id))).not.toMatch(/secret-name|secret-note|http|signature/);
    const ticket = await deps.mediaJobs.ticket(mediaJobName(id));
    expect(ticket?.filename).toBe('secret-name.jpg');
    expect(new Set(ticket?.heartbeatTokens).size).toBe(8);
  });

  it('recreates a lost MediaJob with the next attempt and another nonce for its outputs', async () => {
    const id = await dispatched();
    await report(id, { attempt: 1, percent: 30 });
    const before = await deps.mediaJobs.ticket(mediaJobName(id));
    await deps.mediaJobs.delete(mediaJobName(id));
    await dispatchJobs(deps);
    expect((await mediaJobOf(id)).spec.firstAttempt).toBe(2);
    expect((await deps.mediaJobs.ticket(mediaJobName(id)))?.dispatch).not.toBe(before?.dispatch);
  });

  it('recreates a lost MediaJob with the disruptions of the job, which leave it its attempts', async () => {
    const id = await dispatched();
    await report(id, { attempt: 4, disruptions: 4 });
    await deps.mediaJobs.delete(mediaJobName(id));
    await dispatchJobs(deps);
    expect((await mediaJobOf(id)).spec).toMatchObject({ firstAttempt: 5, disruptions: 4 });
  });
});

describe('mediaJobsToProject', () => {
  it('asks PostgreSQL once and names only the MediaJobs that have a step to do', async () => {
    const [recorded, behind, gone] = [await dispatched(), await dispatched(), await dispatched()];
    await report(recorded, { attempt: 1, percent: 30 });
    await deps.mediaJobs.updateStatus(await mediaJobOf(behind), status({ percent: 30 }));
    await database.query('delete from jobs where id = $1', [gone]);
    const query = vi.spyOn(database, 'selectRows');
    const names = await mediaJobsToProject(deps);
    expect(names.toSorted()).toEqual([behind, gone].map((id) => mediaJobName(id)).toSorted());
    expect(query).toHaveBeenCalledTimes(1);
    query.mockRestore();
  });

  it('names a finished MediaJob when its time is over', async () => {
    const id = await dispatched();
    await report(id, { phase: 'Failed', error: { code: 'timeout', message: 'late' } });
    expect(await mediaJobsToProject(deps)).toEqual([]);
    expect(await mediaJobsToProject({ ...deps, clock: { now: () => new Date(NOW.getTime() + 61_000) } })).toEqual([
      mediaJobName(id),
    ]);
  });
});

describe('projectMediaJob', () => {
  it('recreates a suspended MediaJob without a ticket, unless its creation is in progress', async () => {
    const id = await dispatched({ inputStored: false });
    const { metadata } = await mediaJobOf(id);
    vi.spyOn(deps.mediaJobs, 'ticket').mockResolvedValue(null);
    deps = {
      ...deps,
      clock: { now: () => new Date(NOW.getTime() + 60_000) },
      beingCreated: new Set([mediaJobName(id)]),
    };
    await projectMediaJob(deps, mediaJobName(id));
    expect((await mediaJobOf(id)).metadata.uid).toBe(metadata.uid);
    deps.beingCreated.clear();
    await projectMediaJob(deps, mediaJobName(id));
    expect(await deps.mediaJobs.get(mediaJobName(id))).toBeNull();
    await dispatchJobs(deps);
    expect((await mediaJobOf(id)).metadata.uid).not.toBe(metadata.uid);
  });

  it('reads the ticket of a MediaJob once', async () => {
    const id = await dispatched();
    const ticket = vi.spyOn(deps.mediaJobs, 'ticket');
    deps = { ...deps, clock: { now: () => new Date(NOW.getTime() + 60_000) } };
    for (let round = 0; round < 3; round += 1) await projectMediaJob(deps, mediaJobName(id));
    expect(ticket).toHaveBeenCalledTimes(1);
  });

  // Promise, States: Processing begins with the worker's first heartbeat; percent never decreases
  it('sets processing at the first heartbeat and never decreases the percentage', async () => {
    const id = await dispatched();
    await report(id, { phase: 'Pending', startedAt: null, attempt: 1 });
    expect(await readJob(database, id)).toMatchObject({ status: 'queued', startedAt: null, attempt: 1 });
    await report(id, { percent: 40 });
    await report(id, { percent: 30 });
    expect(await readJob(database, id)).toMatchObject({ status: 'processing', startedAt: NOW, percent: 40 });
  });

  it('does not write progress that is recorded', async () => {
    const id = await dispatched();
    await report(id, { percent: 40 });
    const version = async (): Promise<unknown> => database.query('select xmin::text from jobs where id = $1', [id]);
    const before = await version();
    await projectMediaJob(deps, mediaJobName(id));
    expect(await version()).toEqual(before);
    await report(id, { attempt: 2, percent: 10 });
    expect(await readJob(database, id)).toMatchObject({ attempt: 2, percent: 40 });
  });

  it('ends the job and keeps the finished MediaJob for `keepFinishedSeconds`', async () => {
    const id = await dispatched();
    await deps.mediaJobs.updateStatus(
      await mediaJobOf(id),
      status({ phase: 'Succeeded', report: buildReport(), completedAt: NOW.toISOString() }),
    );
    expect(await projectMediaJob(deps, mediaJobName(id))).toBe(60);
    const job = await readJob(database, id);
    expect(job).toMatchObject({ status: 'succeeded', outputKey: `outputs/${id}/${job.dispatch}-1` });
    expect(await projectMediaJob(deps, mediaJobName(id))).toBe(60);
    deps = { ...deps, keepFinishedSeconds: 0 };
    await projectMediaJob(deps, mediaJobName(id));
    expect(await deps.mediaJobs.get(mediaJobName(id))).toBeNull();
  });

  it('records the error of a failed MediaJob', async () => {
    const id = await dispatched();
    await report(id, { phase: 'Failed', error: { code: 'encrypted_pdf', message: 'It needs a password.' } });
    const error = { type: 'processing_error', code: 'encrypted_pdf', message: 'It needs a password.' };
    expect(await readJob(database, id)).toMatchObject({ status: 'failed', error, outputKey: null });
  });

  it('ignores and deletes a MediaJob that a newer one has replaced', async () => {
    const id = await dispatched();
    await database.query(`update jobs set dispatch = 'newer' where id = $1`, [id]);
    await deps.mediaJobs.updateStatus(await mediaJobOf(id), status({ phase: 'Succeeded', report: buildReport() }));
    await projectMediaJob(deps, mediaJobName(id));
    expect(await readJob(database, id)).toMatchObject({ status: 'queued' });
    expect(await deps.mediaJobs.get(mediaJobName(id))).toBeNull();
  });

  it('deletes a MediaJob that has no row', async () => {
    const id = await dispatched();
    await database.query('delete from jobs where id = $1', [id]);
    await projectMediaJob(deps, mediaJobName(id));
    expect(await deps.mediaJobs.get(mediaJobName(id))).toBeNull();
  });

  it('resumes a suspended MediaJob once the input is stored', async () => {
    const id = await dispatched({ inputStored: false, inputSize: null, inputEtag: null, inputFilename: null });
    expect((await mediaJobOf(id)).spec.suspend).toBe(true);
    await database.query(
      `update jobs set input_stored = true, input_size = 7, input_etag = '"e"', input_filename = 'a.pdf' where id = $1`,
      [id],
    );
    await projectMediaJob(deps, mediaJobName(id));
    expect((await mediaJobOf(id)).spec).toMatchObject({ suspend: false, inputSize: 7, kind: 'pdf' });
  });
});

describe('a job with output.url', () => {
  const target = { outputTarget: Buffer.from('sealed') };
  const done: Partial<MediaJobStatus> = { phase: 'Succeeded', report: buildReport() };

  async function settle(id: string, error: object | null): Promise<void> {
    await database.query('update transfers set done_at = $2, error = $3 where job_id = $1', [
      id,
      NOW,
      error === null ? null : JSON.stringify(error),
    ]);
    await settleTransfers({ ...deps, onSettled: () => undefined });
  }

  it('ends after its upload', async () => {
    const id = await dispatched(target);
    await report(id, done);
    expect(await readJob(database, id)).toMatchObject({ status: 'processing', outputUpload: 'due', percent: 95 });
    await settle(id, null);
    expect(await readJob(database, id)).toMatchObject({ status: 'succeeded', outputKey: null, billed: true });
  });

  it('fails when its upload has failed', async () => {
    const id = await dispatched(target);
    await report(id, done);
    await settle(id, { code: 'output_upload_failed', message: 'The response has status 500.' });
    expect(await readJob(database, id)).toMatchObject({
      status: 'failed',
      error: { code: 'output_upload_failed' },
      billed: false,
    });
  });

  it('ends when another job, whose upload ended earlier, cannot be ended', async () => {
    const [stuck, other] = [await dispatched(target), await dispatched(target)];
    await report(stuck, done);
    await report(other, done);
    await database.query('update transfers set done_at = $1', [NOW]);
    const remove = await refuseUpdates(database, stuck);
    const settled: string[] = [];
    const iterate = (): Promise<void> =>
      settleTransfers({ ...deps, log: makeLog('test', 'silent'), onSettled: (jobId) => void settled.push(jobId) });
    await iterate();
    expect(settled).toEqual([other]);
    expect(await readJob(database, other)).toMatchObject({ status: 'succeeded' });
    expect(await readJob(database, stuck)).toMatchObject({ status: 'processing' });
    await remove();
    await iterate();
    expect(settled).toEqual([other, stuck]);
    expect(await readJob(database, stuck)).toMatchObject({ status: 'succeeded' });
  });
});
