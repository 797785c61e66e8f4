import { estimate, estimateRequestSchema, estimateSchema } from '#api/billing/estimate.ts';
import type { Endpoint } from '#api/http/endpoint.ts';
import { parseFields } from '#api/fields/parse-fields.ts';
import { readJsonBody } from '#api/http/json-body.ts';

/** `POST /v1/estimate`: free, with live and test keys. See docs/reference/estimate-and-usage.md#estimate. */
export const estimateEndpoint: Endpoint = {
  method: 'POST',
  path: '/v1/estimate',
  summary: 'Estimate the price of an operation, without a file.',
  lane: 'other',
  body: estimateRequestSchema,
  responses: { 200: { description: 'The price of a request that succeeds.', schema: estimateSchema } },
  errors: ['bad_request', 'invalid_options', 'unsupported_input', 'unsupported_target'],
  handle: async (deps, request) => {
    const { object } = await readJsonBody(request);
    const input = parseFields(estimateRequestSchema, object);
    return { status: 200, body: await estimate(deps, { caller: request.caller, input }) };
  },
};
