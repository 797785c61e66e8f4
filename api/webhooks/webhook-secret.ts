import { randomWord } from '#crds/ids.ts';

const LETTERS_AND_DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** A fresh signing secret. Spec: Webhook endpoint, `secret`. */
export function newWebhookSecret(): string {
  return `whsec_${randomWord(LETTERS_AND_DIGITS, 32)}`;
}

/** Where a secret is kept: what its encryption is bound to. */
export const secretContext = {
  account: (id: string): string => `account-signing-secret:${id}`,
  endpoint: (id: string): string => `webhook-endpoint:${id}`,
  delivery: (eventId: string): string => `webhook-delivery:${eventId}`,
  ping: (eventId: string): string => `webhook-ping:${eventId}`,
} as const;
