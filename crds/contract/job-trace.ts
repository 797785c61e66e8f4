/**
 * The trace of a job, in the order of its spans:
 *
 *   (span of the caller) → POST /v1/jobs → job ─┬→ job queue
 *                                               ├→ job dispatch → job attempt → attempt fetch, process, upload
 *                                               ├→ GET input.url, PUT output.url
 *                                               └→ POST webhook
 *
 * The row of the job has the `traceparent` of the request that created it. The span of the job is recorded at its end;
 * its id follows from that of the job, so that every process can name it as the parent before.
 */
import { createHash } from 'node:crypto';

/** Returns the id of a job's span: 16 hexadecimal digits. */
export function jobSpanId(jobId: string): string {
  return createHash('sha256').update(jobId).digest('hex').slice(0, 16);
}

/** Returns the context of a job's span, from that of the request that created the job. */
export function jobTraceparent(jobId: string, traceparent: string): string {
  const [version, traceId, , flags] = traceparent.split('-');
  return [version, traceId, jobSpanId(jobId), flags].join('-');
}
