/**
 * Brings one MediaJob and its row together, whatever happened since: progress and ends go into
 * PostgreSQL, what PostgreSQL has decided goes to the MediaJob. It reads both afresh each time, so a
 * lost, late or doubled event does no harm.
 */
import { finishJob, type FinishDeps } from '#api/jobs/finish-job.ts';
import { inputUrl, kindOfName, type DispatchDeps } from '#api/jobs/dispatch-jobs.ts';
import { isUnfinished, outputKey, type Job } from '#api/jobs/job.ts';
import { markDeliveryDue, recordProgress } from '#api/jobs/job-progress-rows.ts';
import { findJob } from '#api/jobs/job-rows.ts';
import { JOBS_CHANNEL } from '#api/jobs/jobs-channel.ts';
import { notify } from '#api/store/listen.ts';
import { insertTransfer } from '#api/transfers/transfer-rows.ts';
import { isFinal, type MediaJob, type MediaJobStatus } from '#crds/media-job.ts';
import { jobIdOfName, LABELS } from '#crds/names.ts';

export interface ProjectDeps extends FinishDeps, DispatchDeps {
  /** How long a finished MediaJob stays to be looked at. */
  readonly keepFinishedSeconds: number;
  /** Uids of MediaJobs, by name, whose ticket was found: it stays as long as they do. */
  readonly ticketsSeen: Map<string, string>;
}

type Step =
  | { readonly do: 'nothing' }
  | { readonly do: 'delete'; readonly why: string; readonly unexpected?: string }
  /** It may have been cut off while it was made: without its ticket it cannot start, and is made anew. */
  | { readonly do: 'check-ticket' }
  | { readonly do: 'delete-later'; readonly seconds: number }
  | { readonly do: 'resume' }
  | { readonly do: 'progress'; readonly status: MediaJobStatus }
  | { readonly do: 'end'; readonly status: MediaJobStatus };

/** Takes the step that a MediaJob and its row need; gives seconds after which to look again, null when an event will tell. */
export async function projectMediaJob(deps: ProjectDeps, name: string): Promise<number | null> {
  const mediaJob = await deps.mediaJobs.get(name);
  if (mediaJob === null) {
    deps.ticketsSeen.delete(name);
    return null;
  }
  const job = await findJob(deps.database, jobIdOfName(name));
  const step = nextStep(deps, mediaJob, job);
  switch (step.do) {
    case 'nothing':
      return null;
    case 'delete':
      deps.log.info({ name, why: step.why }, 'MediaJob deleted');
      await deps.mediaJobs.delete(name, step.unexpected);
      return null;
    case 'check-ticket':
      if ((await deps.mediaJobs.ticket(name)) === null) {
        deps.log.warn({ name }, 'MediaJob without its ticket is made anew');
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

const NO_RECORD = 'There is no job of that id: jobs are made through the API, and this MediaJob is deleted.';

function nextStep(deps: ProjectDeps, mediaJob: MediaJob, job: Job | null): Step {
  const { status } = mediaJob;
  if (job === null) return { do: 'delete', why: 'it has no record', unexpected: NO_RECORD };
  if (isUnfinished(job) && fenceOf(mediaJob).dispatch !== job.dispatch)
    return { do: 'delete', why: 'a newer one was made' };
  return isUnfinished(job) ? beforeEnd(deps, mediaJob, job) : afterEnd(deps, status, job);
}

function beforeEnd(deps: ProjectDeps, mediaJob: MediaJob, job: Job): Step {
  const { status, spec } = mediaJob;
  if (job.delivery !== null) return { do: 'nothing' };
  if (status !== undefined && isFinal(status)) return { do: 'end', status };
  if (isTicketDoubtful(deps, mediaJob)) return { do: 'check-ticket' };
  if (spec.suspend && job.inputStored) return { do: 'resume' };
  return status === undefined ? { do: 'nothing' } : { do: 'progress', status };
}

/** The ticket is made right after its MediaJob. */
const TICKET_SECONDS = 30;

/** False once it was found, or used: a worker that was heard of has it. */
function isTicketDoubtful({ clock, ticketsSeen, inTheMaking }: ProjectDeps, { metadata, status }: MediaJob): boolean {
  if (status?.phase === 'Running' || ticketsSeen.get(metadata.name) === metadata.uid) return false;
  if (inTheMaking.has(metadata.name)) return false;
  return clock.now().getTime() - Date.parse(metadata.creationTimestamp) >= TICKET_SECONDS * 1000;
}

/** A canceled or otherwise ended job's run is stopped at once; a finished MediaJob stays a while. */
function afterEnd(deps: ProjectDeps, status: MediaJobStatus | undefined, job: Job): Step {
  if (!isFinal(status) || job.completedAt === null) return { do: 'delete', why: `the job has ended: ${job.status}` };
  const age = (deps.clock.now().getTime() - job.completedAt.getTime()) / 1000;
  if (age >= deps.keepFinishedSeconds) return { do: 'delete', why: 'finished a while ago' };
  return { do: 'delete-later', seconds: deps.keepFinishedSeconds - age };
}

async function resume(deps: ProjectDeps, mediaJob: MediaJob, job: Job | null): Promise<void> {
  if (job === null || job.inputSize === null || job.inputEtag === null) return;
  await deps.mediaJobs.resume(mediaJob.metadata.name, {
    inputSize: job.inputSize,
    inputUrl: await inputUrl(deps, job),
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
    const error = status.error ?? { code: 'internal', message: 'The work ended without a report.' };
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
    const due = await markDeliveryDue(
      tx,
      { id, dispatch },
      { attempt: status.attempt, startedAt, outputKey: key, report },
    );
    if (!due) return;
    await insertTransfer(tx, { jobId: id, direction: 'deliver', nextAt: deps.clock.now() });
    await notify(tx, JOBS_CHANNEL, id);
  });
}

function progressOf(status: MediaJobStatus): { attempt: number; startedAt: Date | null; percent: number } {
  const startedAt = status.startedAt === null ? null : new Date(status.startedAt);
  return { attempt: status.attempt, startedAt, percent: Math.min(status.percent, 99) };
}

function fenceOf(mediaJob: MediaJob): { id: string; dispatch: string } {
  return { id: mediaJob.spec.jobId, dispatch: mediaJob.metadata.labels[LABELS.dispatch] ?? '' };
}
