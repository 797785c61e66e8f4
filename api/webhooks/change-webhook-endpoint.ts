/** What may change about a webhook endpoint. Spec: Webhook endpoint states. */
import { z } from 'zod';
import type { ApiDeps } from '#api/api-deps.ts';
import type { ApiReply, CallerRequest } from '#api/endpoint.ts';
import { parseFields, readJsonBody } from '#api/http/json-body.ts';
import { webhookEndpointNotFound, webhookEndpointObject } from '#api/webhooks/webhook-endpoint-object.ts';
import {
  deleteWebhookEndpoint,
  replaceWebhookSecret,
  setWebhookEndpointEnabled,
} from '#api/webhooks/webhook-endpoint-rows.ts';
import { newWebhookSecret, secretContext } from '#api/webhooks/webhook-secret.ts';
import { isId } from '#crds/ids.ts';

export const webhookEndpointChangeSchema = z.strictObject({
  enabled: z
    .boolean()
    .meta({ description: 'false pauses it: jobs that finish meanwhile send it nothing, then or later.' }),
});

export const deletedWebhookEndpointSchema = z.object({
  id: z.string(),
  object: z.literal('webhook_endpoint'),
  deleted: z.literal(true),
});

/** `PATCH /v1/webhook_endpoints/{id}`: pauses or resumes; queued deliveries and retries still run. */
export async function changeWebhookEndpoint(deps: ApiDeps, request: CallerRequest): Promise<ApiReply> {
  const { object } = await readJsonBody(request);
  const { enabled } = parseFields(webhookEndpointChangeSchema, object);
  const named = namedEndpoint(request);
  const endpoint = await setWebhookEndpointEnabled(deps.database, { ...named, enabled });
  if (endpoint === null) throw webhookEndpointNotFound(named.id);
  return { status: 200, body: webhookEndpointObject(endpoint) };
}

/** `POST /v1/webhook_endpoints/{id}/rotate_secret`: deliveries that are queued keep the secret they have. */
export async function rotateWebhookSecret(deps: ApiDeps, request: CallerRequest): Promise<ApiReply> {
  const named = namedEndpoint(request);
  const secret = newWebhookSecret();
  const sealedSecret = deps.secretBox.seal(secret, secretContext.endpoint(named.id));
  const endpoint = await replaceWebhookSecret(deps.database, { ...named, sealedSecret });
  if (endpoint === null) throw webhookEndpointNotFound(named.id);
  return {
    status: 200,
    headers: { 'Cache-Control': 'no-store' },
    body: { ...webhookEndpointObject(endpoint), secret },
  };
}

/** `DELETE /v1/webhook_endpoints/{id}`: new events go there no more; queued deliveries and retries still run. */
export async function removeWebhookEndpoint(deps: ApiDeps, request: CallerRequest): Promise<ApiReply> {
  const named = namedEndpoint(request);
  if (!(await deleteWebhookEndpoint(deps.database, { ...named, at: deps.clock.now() })))
    throw webhookEndpointNotFound(named.id);
  return { status: 200, body: { id: named.id, object: 'webhook_endpoint', deleted: true } };
}

/**
 * The account and the id that the path names.
 * @throws MediaError not_found for a text that is no such id.
 */
export function namedEndpoint({ caller, params }: CallerRequest): { accountId: string; id: string } {
  const id = params['id'] ?? '';
  if (!isId('webhookEndpoint', id)) throw webhookEndpointNotFound(id);
  return { accountId: caller.account.id, id };
}
