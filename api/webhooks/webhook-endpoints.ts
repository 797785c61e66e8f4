import { z } from 'zod';
import type { CallerRequest, Endpoint } from '#api/http/endpoint.ts';
import { readFields } from '#api/http/json-body.ts';
import {
  changeWebhookEndpoint,
  deleteWebhookEndpoint,
  rotateWebhookSecret,
  webhookEndpointChangeSchema,
} from '#api/webhooks/change-webhook-endpoint.ts';
import { createWebhookEndpoint, webhookEndpointRequestSchema } from '#api/webhooks/create-webhook-endpoint.ts';
import { requestPing } from '#api/webhooks/request-ping.ts';
import { signingSecret } from '#api/webhooks/signing-secret.ts';
import {
  webhookEndpointObject,
  webhookEndpointSchema,
  webhookEndpointWithSecretSchema,
} from '#api/webhooks/webhook-endpoint-object.ts';
import { selectWebhookEndpoints } from '#api/webhooks/webhook-endpoint-rows.ts';

const webhookEndpointList = z.object({
  object: z.literal('list'),
  data: z.array(webhookEndpointSchema),
  has_more: z.literal(false),
});

const deletedWebhookEndpoint = z.object({
  id: z.string(),
  object: z.literal('webhook_endpoint'),
  deleted: z.literal(true),
});

export const webhookTestSchema = z
  .object({
    object: z.literal('webhook_test'),
    event_id: z.string(),
    delivered: z.boolean(),
    status: z.int().meta({ description: 'HTTP status of the response; 0 without a response.' }),
    duration_ms: z.int(),
  })
  .meta({ id: 'WebhookTest' });

const signingSecretSchema = z.object({ object: z.literal('webhook_signing_secret'), secret: z.string() });

/** Endpoints of webhooks: docs/reference/webhooks.md. */
export const webhookEndpoints: readonly Endpoint[] = [
  {
    method: 'POST',
    path: '/v1/webhook_endpoints',
    summary: 'Register a URL that receives an event for every finished job.',
    lane: 'other',
    body: webhookEndpointRequestSchema,
    responses: { 201: { description: 'The endpoint with its secret.', schema: webhookEndpointWithSecretSchema } },
    errors: ['bad_request'],
    handle: async (deps, request) => {
      const input = await readFields(request, webhookEndpointRequestSchema);
      const { endpoint, secret } = await createWebhookEndpoint(deps, { caller: request.caller, input });
      return {
        status: 201,
        headers: { Location: `/v1/webhook_endpoints/${endpoint.id}`, 'Cache-Control': 'no-store' },
        body: { ...webhookEndpointObject(deps, endpoint), secret },
      };
    },
  },
  {
    method: 'GET',
    path: '/v1/webhook_endpoints',
    summary: 'List webhook endpoints, newest first.',
    lane: 'other',
    responses: { 200: { description: 'All webhook endpoints, without secrets.', schema: webhookEndpointList } },
    errors: [],
    handle: async (deps, { caller }) => {
      const endpoints = await selectWebhookEndpoints(deps.database, caller.account.id);
      const data = endpoints.map((endpoint) => webhookEndpointObject(deps, endpoint));
      return { status: 200, body: { object: 'list', data, has_more: false } };
    },
  },
  {
    method: 'PATCH',
    path: '/v1/webhook_endpoints/:id',
    summary: 'Pause or resume a webhook endpoint.',
    lane: 'other',
    body: webhookEndpointChangeSchema,
    responses: { 200: { description: 'The endpoint.', schema: webhookEndpointSchema } },
    errors: ['bad_request', 'not_found'],
    handle: async (deps, request) => {
      const input = { id: idOf(request), ...(await readFields(request, webhookEndpointChangeSchema)) };
      const endpoint = await changeWebhookEndpoint(deps, { caller: request.caller, input });
      return { status: 200, body: webhookEndpointObject(deps, endpoint) };
    },
  },
  {
    method: 'DELETE',
    path: '/v1/webhook_endpoints/:id',
    summary: 'Delete a webhook endpoint; queued deliveries still run.',
    lane: 'other',
    responses: { 200: { description: 'The deleted object.', schema: deletedWebhookEndpoint } },
    errors: ['not_found'],
    handle: async (deps, request) => {
      const id = idOf(request);
      await deleteWebhookEndpoint(deps, { caller: request.caller, input: { id } });
      return { status: 200, body: { id, object: 'webhook_endpoint', deleted: true } };
    },
  },
  {
    method: 'POST',
    path: '/v1/webhook_endpoints/:id/rotate_secret',
    summary: 'Rotate the secret of a webhook endpoint; queued deliveries keep the old one.',
    lane: 'other',
    responses: { 200: { description: 'The endpoint with its new secret.', schema: webhookEndpointWithSecretSchema } },
    errors: ['not_found'],
    handle: async (deps, request) => {
      const { endpoint, secret } = await rotateWebhookSecret(deps, {
        caller: request.caller,
        input: { id: idOf(request) },
      });
      return {
        status: 200,
        headers: { 'Cache-Control': 'no-store' },
        body: { ...webhookEndpointObject(deps, endpoint), secret },
      };
    },
  },
  {
    method: 'POST',
    path: '/v1/webhook_endpoints/:id/test',
    summary: 'Send one ping to a webhook endpoint, once.',
    lane: 'other',
    responses: { 200: { description: 'The outcome of the ping.', schema: webhookTestSchema } },
    errors: ['bad_request', 'not_found', 'engine_busy'],
    handle: async (deps, request) => {
      const input = { id: idOf(request), signal: request.signal };
      const { eventId, delivered, status, durationMs } = await requestPing(deps, { caller: request.caller, input });
      const body = { object: 'webhook_test', event_id: eventId, delivered, status, duration_ms: durationMs };
      return { status: 200, body };
    },
  },
  {
    method: 'GET',
    path: '/v1/webhook_endpoints/signing_secret',
    summary: "The secret that signs events to a job's `webhook_url`.",
    lane: 'other',
    responses: { 200: { description: 'One per account, the same every time.', schema: signingSecretSchema } },
    errors: [],
    handle: async (deps, { caller }) => {
      const secret = await signingSecret(deps, deps.database, caller.account.id);
      const body = { object: 'webhook_signing_secret', secret };
      return { status: 200, headers: { 'Cache-Control': 'no-store' }, body };
    },
  },
];

function idOf({ params }: CallerRequest): string {
  return params['id'] ?? '';
}
