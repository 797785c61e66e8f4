import type { Account } from '#api/accounts/account.ts';
import { lockAccount, updateAccountRow } from '#api/accounts/account-rows.ts';
import type { Database } from '#api/store/database.ts';
import { MediaError } from '#crds/media-error.ts';
import type { Feature } from '#crds/plans.ts';

/** What to change; the rest stays. `spendCapMicroUsd: null` goes back to the plan's cap. */
export interface AccountChange extends Partial<
  Pick<Account, 'plan' | 'paymentMethod' | 'unpaidInvoice' | 'suspended' | 'spendCapMicroUsd'>
> {
  readonly addFeatures?: readonly Feature[];
  readonly removeFeatures?: readonly Feature[];
}

/** @throws MediaError not_found; bad_request for a negative spend cap. */
export async function updateAccount(
  { database }: { readonly database: Database },
  id: string,
  { addFeatures = [], removeFeatures = [], ...change }: AccountChange,
): Promise<Account> {
  if (change.spendCapMicroUsd !== undefined) refuseBadCap(change.spendCapMicroUsd);
  return database.transaction(async (tx) => {
    const account = await lockAccount(tx, id);
    if (account === null)
      throw new MediaError('not_found', `There is no account \`${id}\`. \`mediactl account list\` shows them.`);
    const features = new Set([...account.features, ...addFeatures]);
    for (const feature of removeFeatures) features.delete(feature);
    const changed: Account = { ...account, ...change, features: [...features] };
    await updateAccountRow(tx, changed);
    return changed;
  });
}

function refuseBadCap(microUsd: number | null): void {
  if (microUsd === null || (Number.isSafeInteger(microUsd) && microUsd >= 0)) return;
  throw new MediaError('bad_request', `A spend cap of ${microUsd / 1_000_000} USD is not possible; the least is 0.`, {
    param: 'spend_cap_usd',
  });
}
