import { checkedAccountName } from '#api/accounts/names.ts';
import type { Account } from '#api/accounts/account.ts';
import { insertAccount } from '#api/accounts/account-rows.ts';
import type { Queryable } from '#api/store/database.ts';
import type { NewId } from '#crds/ids.ts';
import type { Feature, PlanName } from '#crds/plans.ts';
import type { Clock } from '#crds/shared/clock.ts';

interface CreateAccountDeps {
  readonly database: Queryable;
  readonly clock: Clock;
  readonly newId: NewId;
}

interface NewAccount {
  readonly name: string;
  readonly plan: PlanName;
  readonly paymentMethod: boolean;
  readonly features: readonly Feature[];
}

/** @throws MediaError bad_request when the name is empty or too long. */
export async function createAccount(
  { database, clock, newId }: CreateAccountDeps,
  input: NewAccount,
): Promise<Account> {
  const account: Account = {
    id: newId('account'),
    name: checkedAccountName(input.name),
    plan: input.plan,
    paymentMethod: input.paymentMethod,
    unpaidInvoice: false,
    suspended: false,
    spendCapMicroUsd: null,
    features: [...new Set(input.features)],
    createdAt: clock.now(),
  };
  await insertAccount(database, account);
  return account;
}
