import { z } from 'zod';
import { isUnfinished, JOB_STATUSES, type Job } from '#api/jobs/job.ts';
import { OPERATIONS } from '#crds/formats.ts';
import { resultSchema } from '#crds/result.ts';
import { signUrl } from '#crds/signed-url.ts';
import type { RingKey } from '#crds/shared/settings.ts';

interface LinkDeps {
  readonly baseUrl: string;
  readonly linkKeys: readonly RingKey[];
}

const timestamp = z.iso.datetime();

/** Spec: Job object. */
export const jobObjectSchema = z
  .object({
    id: z.string(),
    object: z.literal('job'),
    livemode: z.boolean(),
    operation: z.enum(OPERATIONS),
    status: z.enum(JOB_STATUSES),
    created_at: timestamp,
    started_at: timestamp.nullable(),
    completed_at: timestamp.nullable(),
    progress: z.object({ percent: z.int() }),
    input: z.object({ filename: z.string().nullable(), size: z.int().nullable() }),
    result: resultSchema.nullable(),
    error: z.object({ type: z.string(), code: z.string(), message: z.string() }).nullable(),
    billed: z.boolean(),
    expires_at: timestamp.nullable(),
    files_deleted: z.boolean(),
    metadata: z.record(z.string(), z.string()),
  })
  .meta({ id: 'Job' });
export type JobObject = z.infer<typeof jobObjectSchema>;

/** The job as callers and webhooks see it. */
export function jobObject(deps: LinkDeps, job: Job): JobObject {
  return {
    id: job.id,
    object: 'job',
    livemode: job.livemode,
    operation: job.operation,
    status: job.status,
    created_at: job.createdAt.toISOString(),
    started_at: iso(job.startedAt),
    completed_at: iso(job.completedAt),
    progress: { percent: job.percent },
    input: { filename: job.inputFilename, size: job.inputSize },
    result: job.result === null ? null : { ...job.result, ...links(deps, job) },
    error: job.error,
    billed: job.billed,
    expires_at: isUnfinished(job) ? null : iso(job.expiresAt),
    files_deleted: job.filesDeletedAt !== null,
    metadata: job.metadata,
  };
}

export function outputPath(jobId: string): string {
  return `/v1/jobs/${jobId}/output`;
}

function links(deps: LinkDeps, job: Job): { download_url: string | null; download_expires_at: string | null } {
  if (job.outputKey === null || job.expiresAt === null) return { download_url: null, download_expires_at: null };
  const url = signUrl(deps.linkKeys, {
    method: 'GET',
    base: deps.baseUrl,
    path: outputPath(job.id),
    expires: Math.floor(job.expiresAt.getTime() / 1000),
  });
  return { download_url: url, download_expires_at: job.expiresAt.toISOString() };
}

function iso(date: Date | null): string | null {
  return date?.toISOString() ?? null;
}
