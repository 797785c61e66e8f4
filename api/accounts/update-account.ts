import type { Account } from '#api/accounts/account.ts';
import { lockAccount, updateAccountRow } from '#api/accounts/account-rows.ts';
import { recordAudit, type Actor } from '#api/audit/audit.ts';
import type { Dependencies } from '#api/dependencies.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import type { Feature } from '#crds/catalogue/plans.ts';

/** Fields to change; absent fields stay. `spendCapMicroUsd: null` restores the plan's spend cap. */
export interface AccountChange extends Partial<
  Pick<Account, 'plan' | 'paymentMethod' | 'unpaidInvoice' | 'suspended' | 'spendCapMicroUsd'>
> {
  readonly id: string;
  readonly addFeatures?: readonly Feature[];
  readonly removeFeatures?: readonly Feature[];
}

/** Changes an account. @throws MediaError not_found; bad_request for a negative spend cap. */
export async function updateAccount(
  { database, clock }: Pick<Dependencies, 'database' | 'clock'>,
  { caller, input }: { caller: Actor; input: AccountChange },
): Promise<Account> {
  const { id, addFeatures = [], removeFeatures = [], ...change } = input;
  if (change.spendCapMicroUsd !== undefined) refuseBadCap(change.spendCapMicroUsd);
  return database.transaction(async (tx) => {
    const account = await lockAccount(tx, id);
    if (account === null)
      throw new MediaError('not_found', `There is no account \`${id}\`. \`mediactl account list\` shows them.`);
    const features = new Set([...account.features, ...addFeatures]);
    for (const feature of removeFeatures) features.delete(feature);
    const changed: Account = { ...account, ...change, features: [...features] };
    await updateAccountRow(tx, changed);
    await recordAudit(tx, caller, { at: clock.now(), accountId: id, ...auditOf(input) });
    return changed;
  });
}

/** Returns action and target of the audit record: some changes of a single field have actions of their own. */
function auditOf({ id, addFeatures = [], removeFeatures = [], ...change }: AccountChange) {
  const fields = Object.keys(change).filter((name) => change[name as keyof typeof change] !== undefined);
  const isSingle = fields.length === 1 && addFeatures.length + removeFeatures.length === 0;
  const { suspended, spendCapMicroUsd: cap } = change;
  if (isSingle && suspended !== undefined) {
    return { action: suspended ? 'account.suspend' : 'account.reactivate', target: id };
  }
  if (isSingle && cap !== undefined) {
    return { action: 'account.spend_cap', target: cap === null ? 'plan' : String(cap / 1_000_000) };
  }
  return { action: 'account.change', target: id };
}

function refuseBadCap(microUsd: number | null): void {
  if (microUsd === null || (Number.isSafeInteger(microUsd) && microUsd >= 0)) return;
  throw new MediaError('bad_request', `A spend cap of ${microUsd / 1_000_000} USD is not possible; the least is 0.`, {
    param: 'spend_cap_usd',
  });
}
