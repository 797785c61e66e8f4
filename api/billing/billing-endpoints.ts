import { estimate, estimateRequestSchema, estimateSchema } from '#api/billing/estimate.ts';
import { readUsage } from '#api/billing/read-usage.ts';
import { readUsageQuery, usageQuery } from '#api/billing/usage-query.ts';
import { usageSchema } from '#api/billing/usage.ts';
import type { Endpoint } from '#api/http/endpoint.ts';
import { readFields } from '#api/http/json-body.ts';

/** Endpoints of prices and usage: docs/reference/estimate-and-usage.md. */
export const billingEndpoints: readonly Endpoint[] = [
  {
    method: 'POST',
    path: '/v1/estimate',
    summary: 'Estimate the price of an operation, without a file.',
    lane: 'other',
    body: estimateRequestSchema,
    responses: { 200: { description: 'The price of a request that succeeds.', schema: estimateSchema } },
    errors: ['bad_request', 'invalid_options', 'unsupported_input', 'unsupported_target'],
    handle: async (deps, request) => {
      const input = await readFields(request, estimateRequestSchema);
      return { status: 200, body: await estimate(deps, { caller: request.caller, input }) };
    },
  },
  {
    method: 'GET',
    path: '/v1/usage',
    summary: 'Report usage by day and meter.',
    lane: 'other',
    query: usageQuery,
    responses: { 200: { description: 'Totals and days with at least one request.', schema: usageSchema } },
    errors: ['bad_request'],
    handle: async (deps, { caller, query }) => ({
      status: 200,
      body: await readUsage(deps, { caller, input: readUsageQuery(query) }),
    }),
  },
];
