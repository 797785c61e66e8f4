import type { Queryable } from '#api/store/database.ts';
import type { SecretBox } from '#api/store/secret-box.ts';
import { findSigningSecret, keepSigningSecret } from '#api/webhooks/signing-secret-rows.ts';
import { newWebhookSecret, secretContext } from '#api/webhooks/webhook-secret.ts';

/**
 * Returns the secret that signs events to webhook URLs that are no registered endpoints. An account has one, created on
 * first need and never changed. See docs/reference/webhooks.md#signing-secret.
 */
export async function signingSecret(
  { secretBox }: { secretBox: SecretBox },
  db: Queryable,
  accountId: string,
): Promise<string> {
  const context = secretContext.account(accountId);
  const found = await findSigningSecret(db, accountId);
  const kept = found ?? (await keepSigningSecret(db, accountId, secretBox.seal(newWebhookSecret(), context)));
  return secretBox.open(kept, context);
}
