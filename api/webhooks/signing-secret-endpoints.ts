import { z } from 'zod';
import type { Endpoint } from '#api/http/endpoint.ts';
import { signingSecret } from '#api/webhooks/signing-secret.ts';

const signingSecretSchema = z.object({ object: z.literal('webhook_signing_secret'), secret: z.string() });

/** `GET /v1/webhook_endpoints/signing_secret`: docs/reference/webhooks.md#signing-secret. */
export const signingSecretEndpoint: Endpoint = {
  method: 'GET',
  path: '/v1/webhook_endpoints/signing_secret',
  summary: "The secret that signs events to a job's `webhook_url`.",
  lane: 'other',
  responses: { 200: { description: 'One per account, the same every time.', schema: signingSecretSchema } },
  errors: [],
  handle: async (deps, { caller }) => {
    const secret = await signingSecret(deps, deps.database, caller.account.id);
    return {
      status: 200,
      headers: { 'Cache-Control': 'no-store' },
      body: { object: 'webhook_signing_secret', secret },
    };
  },
};
