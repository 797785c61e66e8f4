import type { Queryable } from '#api/store/database.ts';
import type { SecretBox } from '#api/store/secret-box.ts';
import { findSigningSecret, keepSigningSecret } from '#api/webhooks/signing-secret-rows.ts';
import { newWebhookSecret, secretContext } from '#api/webhooks/webhook-secret.ts';

/**
 * The secret of the account for webhook URLs that are no registered endpoints: one per account, made on
 * first need, the same ever after. Spec: `GET /v1/webhook_endpoints/signing_secret`.
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
