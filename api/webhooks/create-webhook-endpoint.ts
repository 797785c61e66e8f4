import { z } from 'zod';
import type { AccountCaller } from '#api/accounts/find-caller.ts';
import { recordAudit } from '#api/audit/audit.ts';
import type { Dependencies } from '#api/dependencies.ts';
import { sealUrl, urlContext } from '#api/webhooks/stored-url.ts';
import { insertWebhookEndpoint, type WebhookEndpoint } from '#api/webhooks/webhook-endpoint-rows.ts';
import { newWebhookSecret, secretContext } from '#api/webhooks/webhook-secret.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import { LIMITS } from '#crds/catalogue/plans.ts';
import { checkTargetUrl } from '#api/outbound/public-url.ts';

export const webhookEndpointRequestSchema = z.strictObject({
  url: z.string().meta({ description: 'Public https URL on the default port, without user name and password.' }),
});

/**
 * Creates a webhook endpoint and its secret. An account may register a URL repeatedly.
 * @throws MediaError bad_request for the URL, or when the account has reached its maximum number of endpoints.
 */
export async function createWebhookEndpoint(
  deps: Pick<Dependencies, 'database' | 'clock' | 'newId' | 'secretBox' | 'privateTargets'>,
  { caller, input: { url } }: { caller: AccountCaller; input: z.infer<typeof webhookEndpointRequestSchema> },
): Promise<{ endpoint: WebhookEndpoint; secret: string }> {
  const { database, secretBox } = deps;
  checkTargetUrl(url, { purpose: 'webhook', privateTargets: deps.privateTargets, param: 'url' });
  const id = deps.newId('webhookEndpoint');
  const secret = newWebhookSecret();
  const accountId = caller.account.id;
  const createdAt = deps.clock.now();
  const row = {
    id,
    accountId,
    url: sealUrl(secretBox, url, urlContext.endpoint(id)),
    sealedSecret: secretBox.seal(secret, secretContext.endpoint(id)),
    createdAt,
  };
  return database.transaction(async (tx) => {
    const endpoint = await insertWebhookEndpoint(tx, row, LIMITS.webhookEndpoints);
    if (endpoint === null) throw tooManyEndpoints();
    await recordAudit(tx, caller.actor, { at: createdAt, action: 'webhook.create', target: id, accountId });
    return { endpoint, secret };
  });
}

function tooManyEndpoints(): MediaError {
  const message = `The account has ${LIMITS.webhookEndpoints} webhook endpoints, the most it may have. Delete one first.`;
  return new MediaError('bad_request', message);
}
