import { z } from 'zod';
import type { Endpoint } from '#api/http/endpoint.ts';
import { createJob } from '#api/jobs/create-job.ts';
import { deleteJob } from '#api/jobs/delete-job.ts';
import { downloadWithKey, downloadWithLink } from '#api/jobs/download-output.ts';
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
  ETag: ['string', 'Strong.'],
  'Accept-Ranges': ['string', 'bytes'],
} as const;

const jobList = z.object({ object: z.literal('list'), data: z.array(jobObjectSchema), has_more: z.boolean() });

/** Endpoints of `/v1/jobs` (docs/reference/jobs.md). */
export const jobEndpoints: readonly Endpoint[] = [
  {
    method: 'POST',
    path: '/v1/jobs',
    summary: 'Create a job.',
    lane: 'other',
    billable: true,
    body: jobRequestSchema,
    responses: {
      202: {
        ...job('The job as queued.'),
        headers: {
          Location: ['string', 'Path of the job.'],
          'Svc-Idempotent-Replayed': ['boolean', 'true when the answer repeats that of an earlier request.'],
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
    handle: createJob,
  },
  {
    method: 'GET',
    path: '/v1/jobs',
    summary: 'List jobs, newest first.',
    lane: 'other',
    query: jobListQuery,
    responses: { 200: { description: 'One page.', schema: jobList } },
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
    query: z.object({ expires: z.string().optional(), signature: z.string().optional() }),
    responses: {
      200: { description: 'The file.', files: OUTPUTS, headers: OUTPUT_HEADERS },
      206: {
        description: 'The part that `Range` asked for.',
        files: OUTPUTS,
        headers: { ...OUTPUT_HEADERS, 'Content-Range': ['string', 'Which bytes these are, of how many.'] },
      },
    },
    errors: ['bad_request', 'not_found', 'invalid_signature'],
    signedLink: downloadWithLink,
    handle: downloadWithKey,
  },
];
