import type { ApiDeps } from '#api/api-deps.ts';
import type { ApiReply, CallerRequest } from '#api/endpoint.ts';
import { webhookEndpointObject } from '#api/webhooks/webhook-endpoint-object.ts';
import { listWebhookEndpoints as selectWebhookEndpoints } from '#api/webhooks/webhook-endpoint-rows.ts';

/** `GET /v1/webhook_endpoints`: all of the account, newest first, without secrets. */
export async function listWebhookEndpoints({ database }: ApiDeps, { caller }: CallerRequest): Promise<ApiReply> {
  const endpoints = await selectWebhookEndpoints(database, caller.account.id);
  const data = endpoints.map((endpoint) => webhookEndpointObject(endpoint));
  return { status: 200, body: { object: 'list', data, has_more: false } };
}
