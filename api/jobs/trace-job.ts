import type { Job } from '#api/jobs/job.ts';
import { jobSpanId, jobTraceparent } from '#crds/contract/job-trace.ts';
import type { Attributes, Tracing } from '#crds/process/tracing.ts';

/** Records the span of a job that has ended, and that of its wait until its first heartbeat. */
export function traceJob(tracing: Tracing | null, job: Job): void {
  const { id, traceparent, createdAt, startedAt, completedAt } = job;
  if (tracing === null || traceparent === null || completedAt === null) return;
  const error = job.status === 'failed' && job.error !== null ? job.error.code : null;
  tracing
    .start({ name: 'job', parent: traceparent, id: jobSpanId(id), startedAt: createdAt })
    .end({ endedAt: completedAt, attributes: attributesOf(job), error });
  tracing
    .start({ name: 'job queue', parent: jobTraceparent(id, traceparent), startedAt: createdAt })
    .end({ endedAt: startedAt ?? completedAt, attributes: { 'mediajobs.job.id': id }, error: null });
}

function attributesOf({ id, status, operation, inputSize, result }: Job): Attributes {
  return {
    'mediajobs.job.id': id,
    'mediajobs.job.status': status,
    'mediajobs.operation': operation,
    'mediajobs.kind': result?.kind,
    'mediajobs.input.size': inputSize ?? undefined,
    'mediajobs.output.size': result?.output_size,
  };
}
