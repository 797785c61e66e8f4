import { z } from 'zod';
import type { ApiDeps } from '#api/api-deps.ts';
import type { ApiReply, CallerRequest } from '#api/endpoint.ts';
import { parseFields, readJsonBody } from '#api/http/json-body.ts';
import { webhookEndpointObject } from '#api/webhooks/webhook-endpoint-object.ts';
import { insertWebhookEndpoint } from '#api/webhooks/webhook-endpoint-rows.ts';
import { newWebhookSecret, secretContext } from '#api/webhooks/webhook-secret.ts';
import { MediaError } from '#crds/media-error.ts';
import { LIMITS } from '#crds/plans.ts';
import { checkTargetUrl } from '#crds/public-url.ts';

export const webhookEndpointRequestSchema = z.strictObject({
  url: z.string().meta({ description: 'Public https URL on the default port, without user name and password.' }),
});

/** `POST /v1/webhook_endpoints`: the same URL may be registered repeatedly. Spec: Webhook endpoints. */
export async function createWebhookEndpoint(deps: ApiDeps, request: CallerRequest): Promise<ApiReply> {
  const { object } = await readJsonBody(request);
  const { url } = parseFields(webhookEndpointRequestSchema, object);
  checkTargetUrl(url, { purpose: 'webhook', privateTargets: deps.privateTargets, param: 'url' });
  const id = deps.newId('webhookEndpoint');
  const secret = newWebhookSecret();
  const sealedSecret = deps.secretBox.seal(secret, secretContext.endpoint(id));
  const endpoint = { id, accountId: request.caller.account.id, url, sealedSecret, createdAt: deps.clock.now() };
  const made = await deps.database.transaction((tx) => insertWebhookEndpoint(tx, endpoint, LIMITS.webhookEndpoints));
  if (made === null) throw full();
  return {
    status: 201,
    headers: { Location: `/v1/webhook_endpoints/${id}`, 'Cache-Control': 'no-store' },
    body: { ...webhookEndpointObject(made), secret },
  };
}

function full(): MediaError {
  const message = `The account has ${LIMITS.webhookEndpoints} webhook endpoints, the most it may have. Delete one first.`;
  return new MediaError('bad_request', message);
}
