import { readUsage } from '#api/billing/read-usage.ts';
import { readUsageQuery, usageQuery } from '#api/billing/usage-query.ts';
import { usageSchema } from '#api/billing/usage.ts';
import type { Endpoint } from '#api/http/endpoint.ts';

/** `GET /v1/usage`: docs/reference/estimate-and-usage.md. */
export const usageEndpoint: Endpoint = {
  method: 'GET',
  path: '/v1/usage',
  summary: 'Report usage by day and meter.',
  lane: 'other',
  query: usageQuery,
  responses: { 200: { description: 'Totals and days with at least one request.', schema: usageSchema } },
  errors: ['bad_request'],
  handle: async (deps, { caller, query }) => {
    const usage = await readUsage(deps, { caller, input: readUsageQuery(query) });
    return { status: 200, body: usage };
  },
};
