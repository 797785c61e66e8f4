/**
 * Model of an account as a caller sees it: pure data derived from responses, which determines the valid next responses.
 * Jobs run on their own, so a job's status only has to follow the last one seen. A request without a response may have
 * been processed or not: then both are valid.
 */
import type { JobStatus } from '#api/jobs/job.ts';
import { isFinal, mayFollow } from '#test/faults/life-cycles.ts';

export interface UploadModel {
  readonly id: string;
  readonly url: string;
  readonly state: 'created' | 'uploaded';
  /** Unfinished or finished jobs that were made on it. */
  readonly jobs: readonly string[];
  /** Milliseconds of the moved clock. */
  readonly expiresAt: number;
}

export interface JobModel {
  readonly id: string;
  readonly seen: JobStatus;
  /** null: without a key. */
  readonly idempotencyKey: string | null;
  readonly completedAt: number | null;
  readonly filesDeleted: boolean;
}

export interface Model {
  readonly uploads: ReadonlyMap<string, UploadModel>;
  readonly jobs: ReadonlyMap<string, JobModel>;
}

export const EMPTY: Model = { uploads: new Map(), jobs: new Map() };

export function withUpload(model: Model, upload: UploadModel): Model {
  return { ...model, uploads: new Map(model.uploads).set(upload.id, upload) };
}

export function withJob(model: Model, job: JobModel): Model {
  return { ...model, jobs: new Map(model.jobs).set(job.id, job) };
}

/** Returns whether the response to `POST /v1/jobs` on the upload is valid, by docs/reference/uploads.md#upload-states. */
export function mayRespondJobOn(
  model: Model,
  uploadId: string,
  { status, now }: { status: number; now: number },
): boolean {
  const upload = model.uploads.get(uploadId);
  const jobs = upload?.jobs.map((id) => model.jobs.get(id)) ?? [];
  const isThere = upload?.state === 'uploaded' && jobs.length === 0 && upload.expiresAt > now;
  const mayBeDeleted = jobs.length > 0 || upload === undefined || upload.state === 'created' || upload.expiresAt <= now;
  if (status === 202)
    return upload !== undefined && (isThere || jobs.some((job) => job !== undefined && !isFinal(job.seen)));
  return status === 404 ? mayBeDeleted : false;
}

/** Returns the job's model after a response. @throws Error when the response is not valid */
export function afterReading(
  job: JobModel,
  seen: { status: JobStatus; completed_at: string | null; files_deleted: boolean },
): JobModel {
  if (!mayFollow(job.seen, seen.status)) throw new Error(`${job.id} was ${job.seen} and is ${seen.status}`);
  if (job.filesDeleted && !seen.files_deleted) throw new Error(`the deleted files of ${job.id} are back`);
  const completedAt = seen.completed_at === null ? null : Date.parse(seen.completed_at);
  return { ...job, seen: seen.status, completedAt, filesDeleted: seen.files_deleted };
}

/** Returns whether the status is valid for the job's output. */
export function mayRespondOutput(job: JobModel, status: number): boolean {
  if (status === 200) return job.seen !== 'failed' && job.seen !== 'canceled' && !job.filesDeleted;
  return status === 404;
}
