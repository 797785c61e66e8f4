/** End of jobs after their transfers: inputs that could not be fetched, outputs that were uploaded or refused. */
import type { Dependencies } from '#api/dependencies.ts';
import { finishJob, type FinishDeps } from '#api/jobs/finish-job.ts';
import { findJob } from '#api/jobs/job-rows.ts';
import { processBatches } from '#api/recorder/process-batches.ts';
import { selectSettledTransfers } from '#api/transfers/transfer-rows.ts';

const BATCH = 100;

interface SettleDeps extends FinishDeps, Pick<Dependencies, 'log'> {
  /** Called with the id of each job that has ended, so that its MediaJob is deleted. */
  readonly onSettled: (jobId: string) => void;
}

/** Ends the jobs whose transfers decide about them. A job that cannot be ended is logged and does not delay the others. */
export async function settleTransfers(deps: SettleDeps): Promise<void> {
  await processBatches(deps, {
    batch: BATCH,
    select: (limit) => selectSettledTransfers(deps.database, limit),
    handle: async ({ jobId, direction, error }) => {
      if (error !== null) await finishJob(deps, jobId, { kind: 'failed', fence: null, error });
      else if (direction === 'deliver') await finishUploaded(deps, jobId);
      deps.onSettled(jobId);
    },
    fieldsOf: ({ jobId, direction }) => ({ job_id: jobId, direction }),
  });
}

async function finishUploaded(deps: FinishDeps, jobId: string): Promise<void> {
  const job = await findJob(deps.database, jobId);
  if (job === null || job.report === null || job.dispatch === null) return;
  await finishJob(deps, jobId, {
    kind: 'succeeded',
    fence: { dispatch: job.dispatch, attempt: job.attempt },
    startedAt: job.startedAt ?? job.createdAt,
    report: job.report,
    outputKey: null,
  });
}
