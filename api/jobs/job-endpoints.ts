import { z } from 'zod';
import { attachment } from '#api/files/output-name.ts';
import type { ApiReply, ApiRequest, Endpoint } from '#api/http/endpoint.ts';
import { readJsonBody } from '#api/http/json-body.ts';
import { parseRange } from '#api/http/range.ts';
import { refusal } from '#api/http/refusal.ts';
import { createJob } from '#api/jobs/create-job.ts';
import { deleteJob } from '#api/jobs/delete-job.ts';
import { findLinkedOutput, findOutput, type JobOutput } from '#api/jobs/find-output.ts';
import { isUsedKey, readIdempotencyKey } from '#api/jobs/idempotency.ts';
import { jobObject, jobObjectSchema } from '#api/jobs/job-object.ts';
import { jobRequestSchema } from '#api/jobs/job-request.ts';
import { jobListQuery, readJobListQuery } from '#api/jobs/job-list-query.ts';
import { listJobs, readJob } from '#api/jobs/read-jobs.ts';
import { KINDS, OPERATIONS, outputFormatsOf } from '#crds/catalogue/formats.ts';

const job = (description: string) => ({ description, schema: jobObjectSchema });

const OUTPUTS = [...new Set(OPERATIONS.flatMap((operation) => outputFormatsOf(operation, KINDS)))];
const OUTPUT_HEADERS = {
  'Content-Disposition': ['string', 'attachment, with the name of the file.'],
  'Cache-Control': ['string', 'private, no-store'],
  ETag: ['string', 'Strong ETag.'],
  'Accept-Ranges': ['string', 'bytes'],
} as const;

const REPLAYED = { 'Svc-Idempotent-Replayed': 'true' };

const jobList = z.object({ object: z.literal('list'), data: z.array(jobObjectSchema), has_more: z.boolean() });

/** Endpoints of `/v1/jobs` (docs/reference/jobs.md). */
export const jobEndpoints: readonly Endpoint[] = [
  {
    method: 'POST',
    path: '/v1/jobs',
    summary: 'Create a job.',
    lane: 'other',
    billable: true,
    isRepeated: isUsedKey,
    body: jobRequestSchema,
    responses: {
      202: {
        ...job('The queued job.'),
        headers: {
          Location: ['string', 'Path of the job.'],
          'Svc-Idempotent-Replayed': ['boolean', 'true when the response repeats that of an earlier request.'],
        },
      },
    },
    errors: [
      'bad_request',
      'invalid_options',
      'not_found',
      'idempotency_conflict',
      'idempotency_in_progress',
      'file_too_large',
      'unsupported_target',
      'spend_cap_reached',
      'test_mode_sample_required',
      'feature_not_enabled',
      'concurrency_limited',
    ],
    handle: async (deps, request) => {
      const { raw, object } = await readJsonBody(request);
      const idempotencyKey = readIdempotencyKey(request.headers['idempotency-key']);
      const input = { fields: object, raw, idempotencyKey, traceparent: request.traceparent };
      const outcome = await createJob(deps, { caller: request.caller, input });
      if (outcome.kind === 'replayed_refusal') {
        return { ...refusal(deps, { error: outcome.refusal, requestId: request.id }), headers: REPLAYED };
      }
      const { kind, created } = outcome;
      const headers = { ...(kind === 'replayed' && REPLAYED), Location: `/v1/jobs/${created.id}` };
      return { status: 202, headers, body: created };
    },
  },
  {
    method: 'GET',
    path: '/v1/jobs',
    summary: 'List jobs, newest first.',
    lane: 'other',
    query: jobListQuery,
    responses: { 200: { description: 'One page of jobs.', schema: jobList } },
    errors: ['bad_request'],
    handle: async (deps, { caller, query }) => {
      const { jobs, hasMore } = await listJobs(deps, { caller, input: readJobListQuery(query) });
      const data = jobs.map((one) => jobObject(deps, one));
      return { status: 200, body: { object: 'list', data, has_more: hasMore } };
    },
  },
  {
    method: 'GET',
    path: '/v1/jobs/:id',
    summary: 'Retrieve a job and its result.',
    lane: 'other',
    responses: { 200: job('The job.') },
    errors: ['not_found'],
    handle: async (deps, { caller, params }) => {
      const found = await readJob(deps, { caller, input: { id: params['id'] ?? '' } });
      return { status: 200, body: jobObject(deps, found) };
    },
  },
  {
    method: 'DELETE',
    path: '/v1/jobs/:id',
    summary: 'Cancel a job and delete its files now.',
    lane: 'other',
    responses: { 200: job('The job, canceled or with its files deleted.') },
    errors: ['not_found'],
    handle: async (deps, { caller, params }) => {
      const deleted = await deleteJob(deps, { caller, input: { id: params['id'] ?? '' } });
      return { status: 200, body: jobObject(deps, deleted) };
    },
  },
  {
    method: 'GET',
    path: '/v1/jobs/:id/output',
    summary: 'Download the output, with a key or by its signed link.',
    lane: 'other',
    query: z.object({
      expires: z.string().optional().meta({ description: 'Part of a signed link, which needs no key.' }),
      signature: z.string().optional().meta({ description: 'Part of a signed link, which needs no key.' }),
    }),
    responses: {
      200: { description: 'The file.', files: OUTPUTS, headers: OUTPUT_HEADERS },
      206: {
        description: 'The range that `Range` requests.',
        files: OUTPUTS,
        headers: {
          ...OUTPUT_HEADERS,
          'Content-Range': ['string', 'Range of the returned bytes and size of the file.'],
        },
      },
    },
    errors: ['bad_request', 'not_found', 'invalid_signature'],
    signedLink: async (deps, request) => {
      const input = { id: request.params['id'] ?? '', query: request.queryText };
      return sendOutput(request, await findLinkedOutput(deps, { input }));
    },
    handle: async (deps, request) => {
      const { caller, params } = request;
      return sendOutput(request, await findOutput(deps, { caller, input: { id: params['id'] ?? '' } }));
    },
  },
];

async function sendOutput({ headers }: ApiRequest, output: JobOutput): Promise<ApiReply> {
  const range = parseRange(headers, output);
  return {
    status: range === null ? 200 : 206,
    headers: {
      'Content-Type': output.mediaType,
      'Content-Disposition': attachment(output.filename),
      'Cache-Control': 'private, no-store',
      ETag: output.etag,
      'Accept-Ranges': 'bytes',
      'Content-Security-Policy': "default-src 'none'; sandbox",
      ...(range === null ? { 'Content-Length': output.size } : rangeHeaders(range, output.size)),
    },
    body: await output.open(range),
  };
}

function rangeHeaders({ start, end }: { start: number; end: number }, size: number): Record<string, string | number> {
  return { 'Content-Length': end - start + 1, 'Content-Range': `bytes ${start}-${end}/${size}` };
}
