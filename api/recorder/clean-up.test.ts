import { beforeEach, describe, expect, it } from 'vitest';
import { deleteLater } from '#api/files/file-deletion-rows.ts';
import {
  deleteFiles,
  expireOutputs,
  expireUploads,
  failOverdueJobs,
  forgetOldRecords,
} from '#api/recorder/clean-up.ts';
import { insertTransfer } from '#api/transfers/transfer-rows.ts';
import { makeSecretBox } from '#api/store/secret-box.ts';
import { deleteOutputs, lastWriteAt } from '#api/jobs/delete-outputs.ts';
import { insertPing, claimPings, recordPingOutcome } from '#api/webhooks/webhook-ping-rows.ts';
import { sealUrl, urlContext } from '#api/webhooks/stored-url.ts';
import { newId } from '#crds/contract/ids.ts';
import { buildJob, readJob } from '#test/support/job-builder.ts';
import { refuseUpdates } from '#test/support/refuse-updates.ts';
import { START, webhookSender } from '#test/support/webhook-sender.ts';

const HOUR_MS = 3600 * 1000;
const DAY_MS = 24 * HOUR_MS;
const sender = await webhookSender();
const { database } = sender;
const deps = { ...sender.deps, newId, baseUrl: 'https://media.test', linkKeys: [] };
beforeEach(() => database.query('truncate transfers, webhook_pings'));

/** Returns the numbers of stored deliveries, transfers and pings. */
async function kept(): Promise<{ deliveries: number; transfers: number; pings: number }> {
  const { rows } = await database.query<{ deliveries: number; transfers: number; pings: number }>(
    `select (select count(*) from webhook_deliveries) as deliveries, (select count(*) from transfers) as transfers,
       (select count(*) from webhook_pings) as pings`,
  );
  return rows[0] as { deliveries: number; transfers: number; pings: number };
}

describe('expiry of uploads, outputs and files', () => {
  const at = new Date(START);
  const deletions = async () =>
    (await database.query<{ n: number }>('select count(*)::int as n from file_deletions')).rows[0]?.n;
  beforeEach(() => database.query('truncate file_deletions, uploads, jobs cascade'));

  // Promise, States: All expired files are deleted, however many have expired
  it('deletes more unused uploads than one batch in one call, with their parts', async () => {
    await database.query(
      `insert into uploads (id, account_id, livemode, size, multipart, created_at, expires_at)
       select 'upl_' || n, $1, true, 1, false, $2::timestamptz, $2::timestamptz + (case when n > 450 then 1 else 0 end) * interval '1 second'
       from generate_series(1, 451) as n`,
      [sender.accountId, at],
    );
    await expireUploads(deps);
    expect((await database.query('select id from uploads')).rows).toEqual([{ id: 'upl_451' }]);
    expect(await deletions()).toBe(900);
  });

  // Promise, States: All expired files are deleted, however many have expired
  it('deletes more outputs and files than one batch in one call', async () => {
    for (let n = 0; n < 3; n += 1) await buildJob(database, sender.accountId);
    await database.query(
      `update jobs set status = 'succeeded', completed_at = $1, expires_at = $1, started_at = $1, result = '{}', output_key = 'x'`,
      [at],
    );
    await expireOutputs(deps);
    expect((await database.query('select id from jobs where files_deleted_at is null')).rows).toEqual([]);
    await database.query(
      `insert into file_deletions (key, due_at) select 'uploads/' || n, $1 from generate_series(1, 450) as n`,
      [at],
    );
    const deleted: string[] = [];
    const files = { list: async function* () {}, delete: async (key: string) => void deleted.push(key) };
    await deleteFiles({ ...deps, files: files as never });
    expect(deleted).toHaveLength(450);
    // The folders of the three jobs are deleted a second time later.
    expect(await deletions()).toBe(3);
  });

  it('deletes the other files when one deletion fails, and retries that one', async () => {
    const kept = new Set(['uploads/stuck', 'uploads/other']);
    let stuck = true;
    const deleting = async (key: string): Promise<void> => {
      if (stuck && key === 'uploads/stuck') throw new Error('the bucket says no');
      kept.delete(key);
    };
    const files = { list: async function* () {}, delete: deleting };
    const clean = (seconds: number): Promise<void> =>
      deleteFiles({
        ...deps,
        clock: { now: () => new Date(START + seconds * 1000) },
        files: files as never,
      });
    await deleteLater(database, 'uploads/stuck', new Date(START - 1));
    await deleteLater(database, 'uploads/other', at);
    await expect(clean(0)).rejects.toThrow('the bucket says no');
    await clean(1);
    expect([...kept]).toEqual(['uploads/stuck']);
    stuck = false;
    await clean(20);
    expect([...kept]).toEqual([]);
  });

  it('deletes an output that a stopped worker wrote after the first deletion', async () => {
    const job = await buildJob(database, sender.accountId, { createdAt: at });
    const { id } = job;
    const kept = new Set([`outputs/${id}/a-1`]);
    const list = async function* (prefix: string) {
      for (const key of kept) if (key.startsWith(prefix)) yield key;
    };
    const files = { list, delete: async (key: string) => void kept.delete(key) };
    const clean = (now: Date): Promise<void> =>
      deleteFiles({ ...deps, clock: { now: () => now }, files: files as never });
    await deleteOutputs(database, job, at);
    await clean(at);
    expect([...kept]).toEqual([]);
    kept.add(`outputs/${id}/a-2`);
    await clean(new Date(lastWriteAt(job).getTime() - 1));
    expect([...kept]).toHaveLength(1);
    await clean(lastWriteAt(job));
    expect([...kept]).toEqual([]);
    expect(await deletions()).toBe(0);
  });
});

describe('failOverdueJobs', () => {
  beforeEach(() => database.query('truncate uploads, jobs cascade'));

  it('fails a job whose account has an endpoint that cannot be decrypted, and stores the event', async () => {
    const { id: endpointId } = await sender.register('https://127.0.0.1:1/');
    const job = await buildJob(database, sender.accountId);
    sender.time = START + HOUR_MS;
    await failOverdueJobs({ ...deps, secretBox: makeSecretBox([{ id: 'b', key: Buffer.alloc(32, 2) }]) });
    expect(await readJob(database, job.id)).toMatchObject({ status: 'failed', error: { code: 'timeout' } });
    expect((await database.query('select job_id, endpoint_id from webhook_deliveries')).rows).toEqual([
      { job_id: job.id, endpoint_id: endpointId },
    ]);
  });

  it('counts the wait for an engine from the time at which a fetched input was stored', async () => {
    const { id } = await buildJob(database, sender.accountId, { uploadId: null, inputStored: false });
    const fail = async (minutes: number): Promise<object> => {
      sender.time = START + minutes * 60_000;
      await failOverdueJobs(deps);
      return readJob(database, id);
    };
    await insertTransfer(database, { jobId: id, direction: 'fetch', nextAt: new Date(START) });
    expect(await fail(100)).toMatchObject({ status: 'queued' });
    await database.query('update jobs set input_stored = true where id = $1', [id]);
    await database.query('update transfers set done_at = $1', [new Date(START + 100 * 60_000)]);
    expect(await fail(130)).toMatchObject({ status: 'queued' });
    expect(await fail(131)).toMatchObject({ status: 'failed', error: { code: 'timeout' } });
  });

  it('fails a job whose input is not stored after four hours', async () => {
    const { id } = await buildJob(database, sender.accountId, { uploadId: null, inputStored: false });
    sender.time = START + 4 * HOUR_MS + 60_000;
    await failOverdueJobs(deps);
    expect(await readJob(database, id)).toMatchObject({ status: 'failed', error: { code: 'input_fetch_failed' } });
  });

  it('fails a job whose output is not uploaded four hours after its start', async () => {
    const { id } = await buildJob(database, sender.accountId);
    const startedAt = new Date(START);
    await database.query(`update jobs set status = 'processing', delivery = 'due', started_at = $2 where id = $1`, [
      id,
      startedAt,
    ]);
    sender.time = START + 4 * HOUR_MS;
    await failOverdueJobs(deps);
    expect(await readJob(database, id)).toMatchObject({ status: 'processing' });
    sender.time += 60_000;
    await failOverdueJobs(deps);
    expect(await readJob(database, id)).toMatchObject({ status: 'failed', error: { code: 'timeout' } });
  });

  it('fails the other jobs when one cannot be ended, and tries that one again later', async () => {
    const [first, stuck, last] = [
      await buildJob(database, sender.accountId),
      await buildJob(database, sender.accountId),
      await buildJob(database, sender.accountId),
    ];
    const remove = await refuseUpdates(database, stuck.id);
    sender.time = START + HOUR_MS;
    await failOverdueJobs(deps);
    const statuses = () =>
      Promise.all([first, stuck, last].map(async ({ id }) => (await readJob(database, id)).status));
    expect(await statuses()).toEqual(['failed', 'queued', 'failed']);
    await remove();
    await failOverdueJobs(deps);
    expect(await statuses()).toEqual(['failed', 'failed', 'failed']);
  });
});

describe('forgetOldRecords', () => {
  it('deletes deliveries, transfers and pings 30 days after their end', async () => {
    const at = new Date(START);
    await sender.register('https://127.0.0.1:1/');
    await sender.finishJob();
    await database.query('update webhook_deliveries set done_at = $1, delivered = true', [at]);
    const job = await buildJob(database, sender.accountId);
    await database.query(`insert into transfers (job_id, direction, next_at, done_at) values ($1, 'fetch', $2, $2)`, [
      job.id,
      at,
    ]);
    const eventId = newId('event');
    const ping = {
      eventId,
      accountId: sender.accountId,
      url: sealUrl(sender.deps.secretBox, 'https://x/', urlContext.ping(eventId)),
      sealedSecret: Buffer.from('s'),
      livemode: true,
      createdAt: at,
    };
    await insertPing(database, ping, { most: 1, since: new Date(0) });
    await claimPings(database, { now: at, since: new Date(0), limit: 1 });
    await recordPingOutcome(database, { eventId: ping.eventId, at, delivered: true, status: 200, durationMs: 1 });
    sender.time = START + 30 * DAY_MS - 1;
    await forgetOldRecords(deps);
    expect(await kept()).toEqual({ deliveries: 1, transfers: 1, pings: 1 });
    sender.time += 1;
    await forgetOldRecords(deps);
    expect(await kept()).toEqual({ deliveries: 0, transfers: 0, pings: 0 });
  });

  it('keeps unfinished deliveries and transfers of any age', async () => {
    await sender.register('https://127.0.0.1:1/');
    await sender.finishJob();
    const job = await buildJob(database, sender.accountId);
    await database.query(`insert into transfers (job_id, direction, next_at) values ($1, 'fetch', $2)`, [
      job.id,
      new Date(START),
    ]);
    sender.time = START + 400 * DAY_MS;
    await forgetOldRecords(deps);
    expect(await kept()).toEqual({ deliveries: 1, transfers: 1, pings: 0 });
  });

  it('deletes a job 30 days after its end when its files are deleted, and keeps other jobs', async () => {
    const [over, unfinished, withFiles] = [
      await buildJob(database, sender.accountId),
      await buildJob(database, sender.accountId),
      await buildJob(database, sender.accountId),
    ];
    const end = `update jobs set status = 'failed', error = '{}', completed_at = $2, files_deleted_at = $3 where id = $1`;
    await database.query(end, [over.id, new Date(START), new Date(START)]);
    await database.query(end, [withFiles.id, new Date(START), null]);
    await database.query(`insert into transfers (job_id, direction, next_at) values ($1, 'fetch', $2)`, [
      over.id,
      new Date(START),
    ]);
    const ids = [over.id, unfinished.id, withFiles.id];
    const left = async () =>
      (await database.query<{ id: string }>('select id from jobs where id = any($1)', [ids])).rows.map(({ id }) => id);
    sender.time = START + 30 * DAY_MS - 1;
    await forgetOldRecords(deps);
    expect(await left()).toHaveLength(3);
    sender.time += 1;
    await forgetOldRecords(deps);
    expect((await left()).toSorted()).toEqual([unfinished.id, withFiles.id].toSorted());
  });

  it('deletes more rows than one statement deletes', async () => {
    await database.query(
      `insert into webhook_deliveries (id, account_id, job_id, url, secret, body, next_at, created_at, done_at, delivered)
       select 'evt_' || n, $1, 'job_' || n, 'https://x/', '', '', $2, $2, $2, true from generate_series(1, 10001) as n`,
      [sender.accountId, new Date(START)],
    );
    sender.time = START + 30 * DAY_MS;
    await forgetOldRecords(deps);
    expect(await kept()).toMatchObject({ deliveries: 0 });
  });
});
