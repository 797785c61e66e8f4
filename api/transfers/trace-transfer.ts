import type { ClaimedTransfer } from '#api/transfers/transfer-rows.ts';
import { jobTraceparent } from '#crds/contract/job-trace.ts';
import type { OpenSpan, Tracing } from '#crds/process/tracing.ts';

const REQUESTS = {
  fetch: { method: 'GET', target: 'input.url' },
  deliver: { method: 'PUT', target: 'output.url' },
} as const;

/** Starts the span of an attempt to transfer a file; null: the job is not traced. */
export function traceTransfer(tracing: Tracing | null, transfer: ClaimedTransfer): Pick<OpenSpan, 'end'> | null {
  const { jobId, direction, attempt, traceparent } = transfer;
  if (tracing === null || traceparent === null) return null;
  const { method, target } = REQUESTS[direction];
  const span = tracing.start({
    name: `${method} ${target}`,
    kind: 'client',
    parent: jobTraceparent(jobId, traceparent),
  });
  const attributes = {
    'http.request.method': method,
    'http.request.resend_count': attempt - 1,
    'mediajobs.job.id': jobId,
  };
  return { end: (end) => span.end({ ...end, attributes }) };
}
