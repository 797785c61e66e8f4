import { z } from 'zod';
import type { Endpoint } from '#api/endpoint.ts';
import {
  changeWebhookEndpoint,
  deletedWebhookEndpointSchema,
  removeWebhookEndpoint,
  rotateWebhookSecret,
  webhookEndpointChangeSchema,
} from '#api/webhooks/change-webhook-endpoint.ts';
import { createWebhookEndpoint, webhookEndpointRequestSchema } from '#api/webhooks/create-webhook-endpoint.ts';
import { listWebhookEndpoints } from '#api/webhooks/list-webhook-endpoints.ts';
import { requestPing, webhookTestSchema } from '#api/webhooks/request-ping.ts';
import { webhookEndpointSchema, webhookEndpointWithSecretSchema } from '#api/webhooks/webhook-endpoint-object.ts';

const webhookEndpointList = z.object({
  object: z.literal('list'),
  data: z.array(webhookEndpointSchema),
  has_more: z.literal(false),
});

/** The HTTP requests about webhook endpoints. Spec: Webhook endpoints. */
export const webhookRoutes: readonly Endpoint[] = [
  {
    method: 'POST',
    path: '/v1/webhook_endpoints',
    summary: 'Register a URL that gets an event for every finished job.',
    lane: 'other',
    body: webhookEndpointRequestSchema,
    responses: { 201: { description: 'The endpoint with its secret.', schema: webhookEndpointWithSecretSchema } },
    errors: ['bad_request'],
    handle: createWebhookEndpoint,
  },
  {
    method: 'GET',
    path: '/v1/webhook_endpoints',
    summary: 'List webhook endpoints, newest first.',
    lane: 'other',
    responses: { 200: { description: 'All of them, without secrets.', schema: webhookEndpointList } },
    errors: [],
    handle: listWebhookEndpoints,
  },
  {
    method: 'PATCH',
    path: '/v1/webhook_endpoints/:id',
    summary: 'Pause or resume a webhook endpoint.',
    lane: 'other',
    body: webhookEndpointChangeSchema,
    responses: { 200: { description: 'The endpoint.', schema: webhookEndpointSchema } },
    errors: ['bad_request', 'not_found'],
    handle: changeWebhookEndpoint,
  },
  {
    method: 'DELETE',
    path: '/v1/webhook_endpoints/:id',
    summary: 'Delete a webhook endpoint; queued deliveries still run.',
    lane: 'other',
    responses: { 200: { description: 'It is gone.', schema: deletedWebhookEndpointSchema } },
    errors: ['not_found'],
    handle: removeWebhookEndpoint,
  },
  {
    method: 'POST',
    path: '/v1/webhook_endpoints/:id/rotate_secret',
    summary: 'Give a webhook endpoint a new secret; queued deliveries keep theirs.',
    lane: 'other',
    responses: { 200: { description: 'The endpoint with its new secret.', schema: webhookEndpointWithSecretSchema } },
    errors: ['not_found'],
    handle: rotateWebhookSecret,
  },
  {
    method: 'POST',
    path: '/v1/webhook_endpoints/:id/test',
    summary: 'Send one ping to a webhook endpoint, once.',
    lane: 'other',
    responses: { 200: { description: 'What came of it, delivered or not.', schema: webhookTestSchema } },
    errors: ['bad_request', 'not_found', 'engine_busy'],
    handle: requestPing,
  },
];
