import { checkedAccountName } from '#api/accounts/names.ts';
import type { Account } from '#api/accounts/account.ts';
import { insertAccount } from '#api/accounts/account-rows.ts';
import { recordAudit, type Actor } from '#api/audit/audit.ts';
import type { Dependencies } from '#api/dependencies.ts';
import type { Queryable } from '#api/store/database.ts';
import type { Feature, PlanName } from '#crds/catalogue/plans.ts';

interface NewAccount {
  readonly name: string;
  readonly plan: PlanName;
  readonly paymentMethod: boolean;
  readonly features: readonly Feature[];
  /** Work in the same transaction, such as the account's first membership. */
  readonly alongside?: (tx: Queryable, account: Account) => Promise<void>;
}

/** Creates an account. @throws MediaError bad_request when the name is empty or too long. */
export async function createAccount(
  { database, clock, newId }: Pick<Dependencies, 'database' | 'clock' | 'newId'>,
  { caller, input }: { caller: Actor; input: NewAccount },
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
  const { id, createdAt } = account;
  await database.transaction(async (tx) => {
    await insertAccount(tx, account);
    await input.alongside?.(tx, account);
    await recordAudit(tx, caller, { at: createdAt, action: 'account.create', target: id, accountId: id });
  });
  return account;
}
