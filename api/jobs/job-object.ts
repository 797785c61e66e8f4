import type { Dependencies } from '#api/dependencies.ts';
import { z } from 'zod';
import { isUnfinished, JOB_STATUSES, type Job } from '#api/jobs/job.ts';
import { ERROR_CODE_NAMES, ERROR_TYPES } from '#crds/contract/error-codes.ts';
import { OPERATIONS } from '#crds/catalogue/formats.ts';
import { resultSchema } from '#crds/contract/result.ts';
import { signUrl } from '#api/files/signed-url.ts';

type LinkDeps = Pick<Dependencies, 'baseUrl' | 'linkKeys'>;

const timestamp = z.iso.datetime();

/** Schema of the job object (docs/reference/jobs.md#job-object). */
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
    error: z.object({ type: z.enum(ERROR_TYPES), code: z.enum(ERROR_CODE_NAMES), message: z.string() }).nullable(),
    billed: z.boolean(),
    expires_at: timestamp.nullable(),
    files_deleted: z.boolean(),
    metadata: z.record(z.string(), z.string()),
  })
  .meta({ id: 'Job' });
export type JobObject = z.infer<typeof jobObjectSchema>;

/** Returns the job object for responses and webhooks, with a signed download link while there is an output. */
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

/** Returns the path of a job's download. */
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
