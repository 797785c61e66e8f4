import { createAccount } from '#api/accounts/create-account.ts';
import { MEDIACTL } from '#api/audit/audit.ts';
import { findJob, insertJob, type NewJob } from '#api/jobs/job-rows.ts';
import type { Job } from '#api/jobs/job.ts';
import type { Database, Queryable } from '#api/store/database.ts';
import { newId, randomWord } from '#crds/contract/ids.ts';
import type { WorkerReport } from '#crds/contract/media-job.ts';
import { resolveOptions } from '#crds/catalogue/options/options.ts';
import { fileLimits, type PlanName } from '#crds/catalogue/plans.ts';

/** Creates an account with every feature. */
export async function buildAccount(database: Database, plan: PlanName = 'payg'): Promise<{ id: string }> {
  return createAccount(
    { database, clock: { now: () => new Date('2026-01-01T00:00:00Z') }, newId },
    { caller: MEDIACTL, input: { name: 'test', plan, paymentMethod: true, features: ['video', 'heic_output'] } },
  );
}

/** Creates a queued job. */
export async function buildJob(db: Queryable, accountId: string, more: Partial<NewJob> = {}): Promise<Job> {
  const id = more.id ?? newId('job');
  return insertJob(db, {
    id,
    accountId,
    keyId: null,
    livemode: true,
    operation: 'compress',
    createdAt: new Date('2026-01-01T00:00:00Z'),
    uploadId: null,
    inputKey: `inputs/${id}`,
    inputEtag: '"in"',
    inputFilename: 'photo.jpg',
    inputSize: 1000,
    inputStored: true,
    options: resolveOptions(new Map()),
    limits: fileLimits('payg'),
    features: { video: true, heicOutput: true },
    webhookUrl: null,
    retentionSeconds: 3600,
    metadata: {},
    traceparent: null,
    inputUrl: null,
    outputTarget: null,
    reservedMicroUsd: 2000,
    ...more,
  });
}

export function buildReport(more: Partial<WorkerReport['result']> = {}): WorkerReport {
  return {
    result: {
      kind: 'image',
      input_format: 'jpg',
      output_format: 'jpg',
      original_size: 1000,
      output_size: 400,
      savings_percent: 60,
      kept_original: false,
      increased: false,
      width: 10,
      height: 10,
      pages: null,
      duration_seconds: null,
      video_codec: null,
      warnings: [],
      ...more,
    },
    inputSha256: 'a'.repeat(64),
    outputSha256: 'b'.repeat(64),
    tools: { sharp: '0.35.5' },
  };
}

/** Reads a job that must be there. */
export async function readJob(db: Queryable, id: string): Promise<Job> {
  const job = await findJob(db, id);
  if (job === null) throw new Error(`no job ${id}`);
  return job;
}

export const nonce = (): string => randomWord('abcdef0123456789', 10);
