import { z } from 'zod';
import type { WebhookEndpoint } from '#api/webhooks/webhook-endpoint-rows.ts';
import { MediaError } from '#crds/media-error.ts';

export const webhookEndpointSchema = z
  .object({
    id: z.string(),
    object: z.literal('webhook_endpoint'),
    url: z.string(),
    enabled: z.boolean(),
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'WebhookEndpoint' });

/** Only the answers of create and rotate show the secret. */
export const webhookEndpointWithSecretSchema = webhookEndpointSchema
  .extend({ secret: z.string() })
  .meta({ id: 'WebhookEndpointWithSecret' });

/** Spec: Webhook endpoint. */
export function webhookEndpointObject({
  id,
  url,
  enabled,
  createdAt,
}: WebhookEndpoint): z.infer<typeof webhookEndpointSchema> {
  return { id, object: 'webhook_endpoint', url, enabled, created_at: createdAt.toISOString() };
}

export function webhookEndpointNotFound(id: string): MediaError {
  return new MediaError('not_found', `There is no webhook endpoint \`${id.slice(0, 40)}\` in this account.`);
}
