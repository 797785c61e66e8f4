/**
 * Projection of one MediaJob: its progress and end go into PostgreSQL, decisions of PostgreSQL go to the MediaJob.
 * It always reads both anew, so lost, late and duplicate events do no harm.
 */
import { finishJob, type FinishDeps } from '#api/jobs/finish-job.ts';
import type { DispatchDeps } from '#api/recorder/dispatch-jobs.ts';
import { kindOfName } from '#crds/catalogue/formats.ts';
import { isUnfinished, outputKey, type Job } from '#api/jobs/job.ts';
import type { ReadJob } from '#api/jobs/job-reader.ts';
import { markUploadDue, recordProgress } from '#api/jobs/job-progress-rows.ts';
import { findJob, findJobs } from '#api/jobs/job-rows.ts';
import { notifyCourier } from '#api/store/changes-channel.ts';
import { insertTransfer } from '#api/transfers/transfer-rows.ts';
import { isFinal, type MediaJob, type MediaJobStatus } from '#crds/contract/media-job.ts';
import { jobIdOfName, LABELS } from '#crds/contract/names.ts';

export interface ProjectDeps extends FinishDeps, DispatchDeps {
  /** Time for which a finished MediaJob is kept for inspection, in seconds. */
  readonly keepFinishedSeconds: number;
  readonly readJob: ReadJob;
  /** Uids, by name, of MediaJobs whose ticket was found. */
  readonly ticketsSeen: Map<string, string>;
}

/** Claims the MediaJobs that an earlier version has made for rows of this database. Those of others are left alone. */
export function claimMediaJobs({ database, mediaJobs }: Pick<ProjectDeps, 'database' | 'mediaJobs'>): Promise<void> {
  return mediaJobs.claim(async (mediaJob) => {
    const { id, dispatch } = fenceOf(mediaJob);
    return (await findJob(database, id))?.dispatch === dispatch;
  });
}

type ProjectionStep =
  | { readonly do: 'nothing' }
  | { readonly do: 'delete'; readonly reason: string; readonly unexpected?: string }
  /** The creation may have been interrupted: a MediaJob without a ticket cannot start and is created again. */
  | { readonly do: 'check-ticket' }
  | { readonly do: 'delete-later'; readonly seconds: number }
  | { readonly do: 'resume' }
  | { readonly do: 'progress'; readonly status: MediaJobStatus }
  | { readonly do: 'end'; readonly status: MediaJobStatus };

/** Applies the next step to a MediaJob and its row. Returns the seconds until the next call; null: the next event. */
export async function projectMediaJob(deps: ProjectDeps, name: string): Promise<number | null> {
  const mediaJob = await deps.mediaJobs.get(name);
  if (mediaJob === null) {
    deps.ticketsSeen.delete(name);
    return null;
  }
  const job = await deps.readJob(jobIdOfName(name));
  const step = nextStep(deps, mediaJob, job);
  switch (step.do) {
    case 'nothing':
      return null;
    case 'delete':
      deps.log.info({ name, reason: step.reason }, 'MediaJob deleted');
      await deps.mediaJobs.delete(name, step.unexpected);
      return null;
    case 'check-ticket':
      if ((await deps.mediaJobs.ticket(name)) === null) {
        deps.log.warn({ name }, 'MediaJob without a ticket deleted, to be created again');
        await deps.mediaJobs.delete(name);
        return null;
      }
      deps.ticketsSeen.set(name, mediaJob.metadata.uid);
      return projectMediaJob(deps, name);
    case 'delete-later':
      return step.seconds;
    case 'resume':
      await resume(deps, mediaJob, job);
      return null;
    case 'progress':
      await recordProgress(deps.database, fenceOf(mediaJob), progressOf(step.status));
      return null;
    case 'end':
      await recordEnd(deps, mediaJob, step.status);
      return deps.keepFinishedSeconds;
  }
}

/** MediaJobs whose rows one query of a sweep reads. */
const SWEEP_BATCH = 500;

/** Returns the names of the MediaJobs that have a step to do now. Reads their rows in batches. */
export async function mediaJobsToProject(deps: ProjectDeps): Promise<readonly string[]> {
  const mediaJobs = await deps.mediaJobs.list();
  const names: string[] = [];
  for (let start = 0; start < mediaJobs.length; start += SWEEP_BATCH) {
    const batch = mediaJobs.slice(start, start + SWEEP_BATCH);
    const ids = batch.map(({ metadata }) => jobIdOfName(metadata.name));
    const jobs = await findJobs(deps.database, ids);
    batch.forEach((mediaJob, index) => {
      const step = nextStep(deps, mediaJob, jobs.get(ids[index] ?? '') ?? null);
      if (step.do !== 'nothing' && step.do !== 'delete-later') names.push(mediaJob.metadata.name);
    });
  }
  return names;
}

const NO_RECORD = 'No job has this id. Jobs are created through the API; this MediaJob is deleted.';

function nextStep(deps: ProjectDeps, mediaJob: MediaJob, job: Job | null): ProjectionStep {
  const { status } = mediaJob;
  if (job === null) return { do: 'delete', reason: 'it has no job record', unexpected: NO_RECORD };
  if (isUnfinished(job) && fenceOf(mediaJob).dispatch !== job.dispatch)
    return { do: 'delete', reason: 'a newer MediaJob exists' };
  return isUnfinished(job) ? beforeEnd(deps, mediaJob, job) : afterEnd(deps, status, job);
}

function beforeEnd(deps: ProjectDeps, mediaJob: MediaJob, job: Job): ProjectionStep {
  const { status, spec } = mediaJob;
  if (job.outputUpload !== null) return { do: 'nothing' };
  if (status !== undefined && isFinal(status)) return { do: 'end', status };
  if (mayLackTicket(deps, mediaJob)) return { do: 'check-ticket' };
  if (spec.suspend && job.inputStored) return { do: 'resume' };
  return status === undefined || isRecorded(status, job) ? { do: 'nothing' } : { do: 'progress', status };
}

/** Returns whether the row has the progress of a status already, as in most sweeps, or that of a newer attempt. */
function isRecorded(status: MediaJobStatus, job: Job): boolean {
  const { attempt, disruptions, startedAt, percent } = progressOf(status);
  const isStartRecorded = startedAt === null || (job.status === 'processing' && job.startedAt !== null);
  const isProgressRecorded = isStartRecorded && percent <= job.percent && disruptions <= job.disruptions;
  return attempt < job.attempt || (attempt === job.attempt && isProgressRecorded);
}

/** Time after the creation of a MediaJob in which its ticket may still be missing, in seconds. */
const TICKET_GRACE_SECONDS = 30;

/** Returns whether the ticket may be missing: it was neither found nor used by a worker yet. */
function mayLackTicket({ clock, ticketsSeen, beingCreated }: ProjectDeps, { metadata, status }: MediaJob): boolean {
  if (status?.phase === 'Running' || ticketsSeen.get(metadata.name) === metadata.uid) return false;
  if (beingCreated.has(metadata.name)) return false;
  return clock.now().getTime() - Date.parse(metadata.creationTimestamp) >= TICKET_GRACE_SECONDS * 1000;
}

/** Returns the step for an ended job: an unfinished MediaJob is deleted, a finished one after `keepFinishedSeconds`. */
function afterEnd(deps: ProjectDeps, status: MediaJobStatus | undefined, job: Job): ProjectionStep {
  if (!isFinal(status) || job.completedAt === null) return { do: 'delete', reason: `the job has ended: ${job.status}` };
  const age = (deps.clock.now().getTime() - job.completedAt.getTime()) / 1000;
  if (age >= deps.keepFinishedSeconds) return { do: 'delete', reason: 'finished MediaJobs are not kept longer' };
  return { do: 'delete-later', seconds: deps.keepFinishedSeconds - age };
}

async function resume(deps: ProjectDeps, mediaJob: MediaJob, job: Job | null): Promise<void> {
  if (job === null || job.inputSize === null || job.inputEtag === null) return;
  await deps.mediaJobs.resume(mediaJob.metadata.name, {
    inputSize: job.inputSize,
    inputEtag: job.inputEtag,
    filename: job.inputFilename,
    kind: kindOfName(job.inputFilename),
  });
}

async function recordEnd(deps: ProjectDeps, mediaJob: MediaJob, status: MediaJobStatus): Promise<void> {
  const { id, dispatch } = fenceOf(mediaJob);
  const fence = { dispatch, attempt: status.attempt };
  const { report } = status;
  if (status.phase === 'Failed' || report === null) {
    const error = status.error ?? { code: 'internal', message: 'Processing ended without a report.' };
    await finishJob(deps, id, { kind: 'failed', fence, error });
    return;
  }
  const startedAt = new Date(status.startedAt ?? status.completedAt ?? deps.clock.now());
  const key = outputKey({ id }, dispatch, status.attempt);
  const job = await findJob(deps.database, id);
  if (job?.sendsOutput !== true) {
    await finishJob(deps, id, { kind: 'succeeded', fence, startedAt, report, outputKey: key });
    return;
  }
  await deps.database.transaction(async (tx) => {
    const due = await markUploadDue(
      tx,
      { id, dispatch },
      { attempt: status.attempt, startedAt, outputKey: key, report },
    );
    if (!due) return;
    await insertTransfer(tx, { jobId: id, direction: 'deliver', nextAt: deps.clock.now() });
    await notifyCourier(tx, 'transfers');
  });
}

function progressOf(status: MediaJobStatus) {
  const { attempt, disruptions } = status;
  const startedAt = status.startedAt === null ? null : new Date(status.startedAt);
  return { attempt, disruptions: disruptions ?? 0, startedAt, percent: Math.min(status.percent, 99) };
}

function fenceOf(mediaJob: MediaJob): { id: string; dispatch: string } {
  return { id: mediaJob.spec.jobId, dispatch: mediaJob.metadata.labels[LABELS.dispatch] ?? '' };
}
