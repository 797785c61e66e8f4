import { describe, expect, it } from 'vitest';
import { finishJob, type Ending, type FinishDeps } from '#api/jobs/finish-job.ts';
import { recordProgress, setDispatches } from '#api/jobs/job-progress-rows.ts';
import { makeSecretBox } from '#api/store/secret-box.ts';
import { insertUpload, markUploaded } from '#api/uploads/upload-rows.ts';
import { sealUrl, urlContext } from '#api/webhooks/stored-url.ts';
import { newId } from '#crds/contract/ids.ts';
import { testDatabase } from '#test/support/database.ts';
import { buildAccount, buildJob, buildReport, readJob } from '#test/support/job-builder.ts';

const NOW = new Date('2026-01-01T12:00:00Z');
const database = await testDatabase({ maxConnections: 30 });
const key = { id: 'k1', key: Buffer.alloc(32, 7) };
const deps: FinishDeps = {
  database,
  clock: { now: () => NOW },
  newId,
  secretBox: makeSecretBox([key]),
  baseUrl: 'https://media.test',
  linkKeys: [key],
};

const success = (dispatch: string, attempt: number, more: Parameters<typeof buildReport>[0] = {}): Ending => ({
  kind: 'succeeded',
  fence: { dispatch, attempt },
  startedAt: NOW,
  report: buildReport(more),
  outputKey: `outputs/x/${dispatch}-${attempt}`,
});

async function runningJob(more: Parameters<typeof buildJob>[2] = {}): Promise<string> {
  const account = await buildAccount(database);
  const id = newId('job');
  const webhookUrl = sealUrl(deps.secretBox, 'https://hooks.test/a', urlContext.job(id));
  const job = await buildJob(database, account.id, { id, webhookUrl, ...more });
  await setDispatches(database, new Map([[job, 'n1']]));
  await recordProgress(
    database,
    { id: job.id, dispatch: 'n1' },
    {
      attempt: 1,
      disruptions: 0,
      startedAt: NOW,
      percent: 20,
    },
  );
  return job.id;
}

const count = async (table: string, column: string, id: string): Promise<number> => {
  const { rows } = await database.query<{ n: number }>(`select count(*)::int as n from ${table} where ${column} = $1`, [
    id,
  ]);
  return rows[0]?.n ?? 0;
};

describe('finishJob', () => {
  it('ends a job whose webhook_url cannot be decrypted, and stores an event that is never sent', async () => {
    const id = await runningJob();
    const withoutKey = { ...deps, secretBox: makeSecretBox([{ id: 'k2', key: Buffer.alloc(32, 8) }]) };
    expect(await finishJob(withoutKey, id, success('n1', 1))).toMatchObject({ status: 'succeeded' });
    expect(await count('webhook_deliveries', 'job_id', id)).toBe(1);
  });

  // Promise, States: Success, failure and cancellation set result, error, billing, files and event together, once
  it('writes status, result, ledger, deletions and webhook delivery in one transaction', async () => {
    const id = await runningJob();
    const job = await finishJob(deps, id, success('n1', 1));
    expect(job).toMatchObject({ status: 'succeeded', percent: 100, billed: true, outputKey: 'outputs/x/n1-1' });
    expect(job?.expiresAt).toEqual(new Date('2026-01-01T13:00:00Z'));
    expect(await count('ledger', 'source_id', id)).toBe(1);
    expect(await count('file_deletions', 'key', `inputs/${id}`)).toBe(1);
    expect(await count('webhook_deliveries', 'job_id', id)).toBe(1);
    const { rows } = await database.query<{ reserved: number }>(
      'select reserved_micro_usd as reserved from jobs where id = $1',
      [id],
    );
    expect(rows[0]?.reserved).toBe(0);
  });

  it.each([
    ['an older attempt', success('n1', 1), 2],
    ['an older MediaJob', success('n0', 3), 1],
  ])('rejects the report of %s', async (_name, ending, attempt) => {
    const id = await runningJob();
    await recordProgress(database, { id, dispatch: 'n1' }, { attempt, disruptions: 0, startedAt: NOW, percent: 30 });
    expect(await finishJob(deps, id, ending)).toBeNull();
    expect(await readJob(database, id)).toMatchObject({ status: 'processing', result: null });
    expect(await count('ledger', 'source_id', id)).toBe(0);
  });

  // Promise, States: Success, failure and cancellation set result, error, billing, files and event together, once
  it('applies exactly one of a concurrent cancellation, success and failure', async () => {
    for (let round = 0; round < 25; round += 1) {
      const id = await runningJob();
      const error = { code: 'timeout', message: 'late' } as const;
      const ends = await Promise.all([
        finishJob(deps, id, { kind: 'canceled' }),
        finishJob(deps, id, success('n1', 1)),
        finishJob(deps, id, { kind: 'failed', fence: null, error }),
      ]);
      const winners = ends.filter((end) => end !== null);
      expect(winners).toHaveLength(1);
      const job = await readJob(database, id);
      expect(job.status).toBe(winners[0]?.status);
      expect(job.billed).toBe(job.status === 'succeeded');
      expect(await count('ledger', 'source_id', id)).toBe(1);
      expect(await count('webhook_deliveries', 'job_id', id)).toBe(1);
    }
  });

  it('fails a job whose upload was overwritten after its creation', async () => {
    const account = await buildAccount(database);
    const uploadId = newId('upload');
    const upload = { id: uploadId, accountId: account.id, livemode: true, size: 5, filename: null, multipart: false };
    await insertUpload(database, { ...upload, createdAt: NOW, expiresAt: NOW });
    await markUploaded(database, uploadId, { size: 5, etag: '"new"', kinds: null, filename: null, at: NOW });
    const job = await buildJob(database, account.id, { uploadId, inputEtag: '"old"' });
    await setDispatches(database, new Map([[job, 'n1']]));
    const ended = await finishJob(deps, job.id, success('n1', 1));
    expect(ended).toMatchObject({ status: 'failed', error: { code: 'input_changed' }, outputKey: null, billed: false });
    expect(await count('uploads', 'id', uploadId)).toBe(0);
  });

  // Promise, States: Failed, kept and test jobs are not billed
  it.each([
    ['a kept original', { livemode: true }, { kept_original: true }],
    ['a test job', { livemode: false }, {}],
  ])('bills nothing for %s', async (_name, more, result) => {
    const id = await runningJob(more);
    expect(await finishJob(deps, id, success('n1', 1, result))).toMatchObject({ status: 'succeeded', billed: false });
    const { rows } = await database.query<{ meter: string; amount: number }>(
      'select meter, amount_micro_usd as amount from ledger where source_id = $1',
      [id],
    );
    expect(rows).toEqual([{ meter: 'unbilled', amount: 0 }]);
  });
});
