import { z } from 'zod';
import type { SecretBox } from '#api/store/secret-box.ts';
import { openUrl, urlContext } from '#api/webhooks/stored-url.ts';
import type { WebhookEndpoint } from '#api/webhooks/webhook-endpoint-rows.ts';
import { MediaError } from '#crds/contract/media-error.ts';

export const webhookEndpointSchema = z
  .object({
    id: z.string(),
    object: z.literal('webhook_endpoint'),
    url: z.string(),
    enabled: z.boolean(),
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'WebhookEndpoint' });

/** Endpoint with its secret, which only the responses of create and rotate contain. */
export const webhookEndpointWithSecretSchema = webhookEndpointSchema
  .extend({ secret: z.string() })
  .meta({ id: 'WebhookEndpointWithSecret' });

/** Returns the interface's webhook endpoint. */
export function webhookEndpointObject(
  { secretBox }: { readonly secretBox: Pick<SecretBox, 'open'> },
  endpoint: WebhookEndpoint,
): z.infer<typeof webhookEndpointSchema> {
  const { id, enabled, createdAt } = endpoint;
  const url = openUrl(secretBox, endpoint, urlContext.endpoint(id));
  return { id, object: 'webhook_endpoint', url, enabled, created_at: createdAt.toISOString() };
}

export function webhookEndpointNotFound(id: string): MediaError {
  return new MediaError('not_found', `There is no webhook endpoint \`${id.slice(0, 40)}\` in this account.`);
}
