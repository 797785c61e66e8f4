import { z } from 'zod';
import { readUsage, type UsageDays } from '#api/billing/read-usage.ts';
import { usageSchema } from '#api/billing/usage.ts';
import type { Endpoint } from '#api/http/endpoint.ts';
import { parseFields } from '#api/http/json-body.ts';
import { readQuery } from '#api/http/query.ts';

/** ISO 8601 date from year 1: PostgreSQL has no year 0. */
const day = z.iso
  .date('not a real date of the form YYYY-MM-DD')
  .refine((text) => text >= '0001-01-01', 'not a real date');

const usageQuery = z.strictObject({
  from: day.optional().meta({ description: 'First day, UTC; default: the first day of this month.' }),
  to: day.optional().meta({ description: 'Last day, UTC; default: today.' }),
});

/** `GET /v1/usage`: docs/reference/estimate-and-usage.md. */
export const usageEndpoint: Endpoint = {
  method: 'GET',
  path: '/v1/usage',
  summary: 'What was used, by day and meter.',
  lane: 'other',
  query: usageQuery,
  responses: { 200: { description: 'Totals and days with at least one request.', schema: usageSchema } },
  errors: ['bad_request'],
  handle: async (deps, { caller, query }) => {
    const usage = await readUsage(deps, { caller, input: readUsageQuery(query) });
    return { status: 200, body: usage };
  },
};

/** Parses the query of `GET /v1/usage`. @throws MediaError bad_request */
export function readUsageQuery(query: URLSearchParams): UsageDays {
  const { from, to } = parseFields(usageQuery, Object.fromEntries(readQuery(query)));
  return { from: from ?? null, to: to ?? null };
}
