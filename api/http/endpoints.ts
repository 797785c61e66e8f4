import { capabilitiesEndpoint } from '#api/http/capabilities.ts';
import { directEndpoints } from '#api/direct/direct-endpoints.ts';
import { billingEndpoints } from '#api/billing/billing-endpoints.ts';
import type { Endpoint } from '#api/http/endpoint.ts';
import { jobEndpoints } from '#api/jobs/job-endpoints.ts';
import { openApiDocument } from '#api/openapi/openapi.ts';
import { presetEndpoints } from '#api/presets/preset-endpoints.ts';
import { receiptEndpoints } from '#api/receipts/receipt-endpoints.ts';
import { uploadEndpoints } from '#api/uploads/upload-endpoints.ts';
import { webhookEndpoints } from '#api/webhooks/webhook-endpoints.ts';

/** Every endpoint of the service. */
export const ENDPOINTS: readonly Endpoint[] = [
  capabilitiesEndpoint,
  {
    method: 'GET',
    path: '/v1/openapi.json',
    summary: 'Get this OpenAPI document.',
    lane: 'public',
    responses: { 200: { description: 'An OpenAPI 3.1 document.' } },
    errors: [],
    handle: async ({ baseUrl }) => ({
      status: 200,
      headers: { 'Cache-Control': 'public, max-age=300' },
      body: openApiDocument(ENDPOINTS, baseUrl),
    }),
  },
  ...directEndpoints,
  ...uploadEndpoints,
  ...jobEndpoints,
  ...receiptEndpoints,
  ...billingEndpoints,
  ...presetEndpoints,
  ...webhookEndpoints,
];
