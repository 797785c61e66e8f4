import { z } from 'zod';
import { parseFields } from '#api/fields/parse-fields.ts';
import { queryNumber, readQuery } from '#api/fields/query.ts';
import { JOB_STATUSES } from '#api/jobs/job.ts';
import type { JobPageQuery } from '#api/jobs/read-jobs.ts';
import { OPERATIONS } from '#crds/catalogue/formats.ts';

const moment = z.iso
  .datetime({ offset: true, error: 'it has to be an ISO 8601 time with zone, such as 2026-01-31T12:00:00Z' })
  .transform((text) => new Date(text));

/** Query parameters of `GET /v1/jobs`. */
export const jobListQuery = z.strictObject({
  limit: queryNumber({ min: 1, max: 100 }).prefault(20).meta({ description: 'Maximum number of jobs. Default 20.' }),
  starting_after: z.string().optional().meta({ description: 'Id of a job: the page continues with older jobs.' }),
  ending_before: z.string().optional().meta({ description: 'Id of a job: the page ends before it, with newer jobs.' }),
  status: z.enum(JOB_STATUSES).optional().meta({ description: 'Only jobs with this status.' }),
  operation: z.enum(OPERATIONS).optional().meta({ description: 'Only jobs with this operation.' }),
  created_after: moment.optional().meta({ description: 'Only jobs created after this time, in ISO 8601.' }),
  created_before: moment.optional().meta({ description: 'Only jobs created before this time, in ISO 8601.' }),
});

/** Parses the query of `GET /v1/jobs`. @throws MediaError bad_request */
export function readJobListQuery(query: URLSearchParams): JobPageQuery {
  const fields = parseFields(jobListQuery, Object.fromEntries(readQuery(query)));
  return {
    limit: fields.limit,
    startingAfter: fields.starting_after,
    endingBefore: fields.ending_before,
    status: fields.status ?? null,
    operation: fields.operation ?? null,
    createdAfter: fields.created_after ?? null,
    createdBefore: fields.created_before ?? null,
  };
}
