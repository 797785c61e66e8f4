import { randomWord } from '#crds/contract/ids.ts';

const LETTERS_AND_DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

export function newWebhookSecret(): string {
  return `whsec_${randomWord(LETTERS_AND_DIGITS, 32)}`;
}

/** Contexts that the encryption of a secret is bound to, by where it is stored. */
export const secretContext = {
  account: (id: string): string => `account-signing-secret:${id}`,
  endpoint: (id: string): string => `webhook-endpoint:${id}`,
  delivery: (eventId: string): string => `webhook-delivery:${eventId}`,
  ping: (eventId: string): string => `webhook-ping:${eventId}`,
} as const;
