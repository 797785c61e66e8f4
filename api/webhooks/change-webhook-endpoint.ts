/** Changes of webhook endpoints: docs/reference/webhooks.md. Queued deliveries and retries continue after each. */
import { z } from 'zod';
import type { AccountCaller } from '#api/accounts/find-caller.ts';
import { recordAudit } from '#api/audit/audit.ts';
import type { Dependencies } from '#api/dependencies.ts';
import { webhookEndpointNotFound } from '#api/webhooks/webhook-endpoint-object.ts';
import {
  deleteWebhookEndpointRow,
  replaceWebhookSecret,
  setWebhookEndpointEnabled,
  type WebhookEndpoint,
} from '#api/webhooks/webhook-endpoint-rows.ts';
import { newWebhookSecret, secretContext } from '#api/webhooks/webhook-secret.ts';
import { isId } from '#crds/contract/ids.ts';

export const webhookEndpointChangeSchema = z.strictObject({
  enabled: z
    .boolean()
    .meta({ description: 'false pauses the endpoint: events of jobs that finish meanwhile are never sent to it.' }),
});

type ChangeDeps = Pick<Dependencies, 'database' | 'clock'>;

interface EndpointChange<Input> {
  readonly caller: AccountCaller;
  readonly input: Input & { readonly id: string };
}

/** Pauses or resumes an endpoint. @throws MediaError not_found */
export async function changeWebhookEndpoint(
  { database, clock }: ChangeDeps,
  { caller, input: { id, enabled } }: EndpointChange<z.infer<typeof webhookEndpointChangeSchema>>,
): Promise<WebhookEndpoint> {
  const owned = ownedEndpoint(caller, id);
  return database.transaction(async (tx) => {
    const endpoint = await setWebhookEndpointEnabled(tx, { ...owned, enabled });
    if (endpoint === null) throw webhookEndpointNotFound(id);
    const action = enabled ? 'webhook.resume' : 'webhook.pause';
    await recordAudit(tx, caller.actor, { at: clock.now(), action, target: id, accountId: owned.accountId });
    return endpoint;
  });
}

/** Replaces the secret of an endpoint; queued deliveries keep the old one. @throws MediaError not_found */
export async function rotateWebhookSecret(
  { database, clock, secretBox }: ChangeDeps & Pick<Dependencies, 'secretBox'>,
  { caller, input: { id } }: EndpointChange<object>,
): Promise<{ endpoint: WebhookEndpoint; secret: string }> {
  const owned = ownedEndpoint(caller, id);
  const secret = newWebhookSecret();
  const sealedSecret = secretBox.seal(secret, secretContext.endpoint(id));
  return database.transaction(async (tx) => {
    const endpoint = await replaceWebhookSecret(tx, { ...owned, sealedSecret });
    if (endpoint === null) throw webhookEndpointNotFound(id);
    const change = { action: 'webhook.rotate', target: id, accountId: owned.accountId };
    await recordAudit(tx, caller.actor, { at: clock.now(), ...change });
    return { endpoint, secret };
  });
}

/** Deletes the endpoint: it receives no new events. @throws MediaError not_found */
export async function deleteWebhookEndpoint(
  { database, clock }: ChangeDeps,
  { caller, input: { id } }: EndpointChange<object>,
): Promise<void> {
  const owned = ownedEndpoint(caller, id);
  const at = clock.now();
  await database.transaction(async (tx) => {
    if (!(await deleteWebhookEndpointRow(tx, { ...owned, at }))) throw webhookEndpointNotFound(id);
    await recordAudit(tx, caller.actor, { at, action: 'webhook.delete', target: id, accountId: owned.accountId });
  });
}

/** Returns account id and endpoint id. @throws MediaError not_found for a text that is not an endpoint's id. */
export function ownedEndpoint(
  { account }: Pick<AccountCaller, 'account'>,
  id: string,
): { accountId: string; id: string } {
  if (!isId('webhookEndpoint', id)) throw webhookEndpointNotFound(id);
  return { accountId: account.id, id };
}
