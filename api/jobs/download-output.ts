import type { ApiDeps } from '#api/http/api-deps.ts';
import type { ApiReply, ApiRequest, CallerRequest } from '#api/http/endpoint.ts';
import { attachment, outputName } from '#api/files/output-name.ts';
import { parseRange } from '#api/http/range.ts';
import type { Job } from '#api/jobs/job.ts';
import { outputPath } from '#api/jobs/job-object.ts';
import { findJob } from '#api/jobs/job-rows.ts';
import { jobNotFound, readJob } from '#api/jobs/read-jobs.ts';
import { FORMATS } from '#crds/catalogue/formats.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import type { EngineResult } from '#crds/contract/result.ts';
import { verifySignedUrl } from '#crds/contract/signed-url.ts';

/** Serves `GET /v1/jobs/{id}/output` to a caller with a key. */
export async function downloadWithKey(deps: ApiDeps, request: CallerRequest): Promise<ApiReply> {
  const { caller, params } = request;
  return sendOutput(deps, request, await readJob(deps, { caller, input: { id: params['id'] ?? '' } }));
}

/**
 * Serves the output to a signed link (docs/reference/jobs.md#download). Checks the signature first, so that a request
 * without one does not learn whether the job exists.
 */
export async function downloadWithLink(deps: ApiDeps, request: ApiRequest): Promise<ApiReply> {
  const id = request.params['id'] ?? '';
  const verdict = verifySignedUrl(deps.linkKeys, {
    method: 'GET',
    path: outputPath(id),
    query: request.queryText,
    now: deps.clock.now(),
  });
  if (verdict !== 'valid') {
    const problem = verdict === 'expired' ? 'has expired' : 'was altered';
    throw new MediaError('invalid_signature', `This download link ${problem}. Read the job again for its link.`);
  }
  const job = await findJob(deps.database, id);
  if (job === null) throw jobNotFound(id);
  return sendOutput(deps, request, job);
}

async function sendOutput(deps: ApiDeps, request: ApiRequest, job: Job): Promise<ApiReply> {
  const { key, result } = outputOf(deps, job);
  const head = await deps.files.head(key);
  if (head === null) throw noOutput(job);
  const range = parseRange(request.headers, head);
  const object = await deps.files.get(key, range ?? undefined);
  if (object === null) throw noOutput(job);
  return {
    status: range === null ? 200 : 206,
    headers: {
      'Content-Type': FORMATS[result.output_format].mediaType,
      'Content-Disposition': attachment(outputName(job.inputFilename, result)),
      'Cache-Control': 'private, no-store',
      ETag: head.etag,
      'Accept-Ranges': 'bytes',
      'Content-Security-Policy': "default-src 'none'; sandbox",
      ...(range === null ? { 'Content-Length': head.size } : rangeHeaders(range, head.size)),
    },
    body: object.body,
  };
}

/** Returns key and result of the stored output. @throws MediaError not_found when there is none or it is deleted. */
function outputOf({ clock }: ApiDeps, job: Job): { key: string; result: EngineResult } {
  const { outputKey: key, result } = job;
  const isExpired = job.expiresAt !== null && job.expiresAt <= clock.now();
  if (key === null || result === null || job.filesDeletedAt !== null || isExpired) throw noOutput(job);
  return { key, result };
}

function rangeHeaders({ start, end }: { start: number; end: number }, size: number): Record<string, string | number> {
  return { 'Content-Length': end - start + 1, 'Content-Range': `bytes ${start}-${end}/${size}` };
}

function noOutput(job: Job): MediaError {
  const why: Record<Job['status'], string> = {
    queued: 'it has not finished',
    processing: 'it has not finished',
    failed: 'it failed',
    canceled: 'it was canceled',
    succeeded: job.outputKey === null ? 'its output was sent to your own storage' : 'its output was deleted',
  };
  return new MediaError('not_found', `The job has no output to download: ${why[job.status]}.`);
}
