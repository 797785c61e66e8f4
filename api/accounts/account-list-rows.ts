/** SQL of the account search of operators. */
import type { Account } from '#api/accounts/account.ts';
import type { Queryable } from '#api/store/database.ts';

export interface ListedAccount extends Pick<
  Account,
  'id' | 'name' | 'plan' | 'paymentMethod' | 'unpaidInvoice' | 'suspended' | 'createdAt'
> {
  /** Spending of the month, in micro-dollars. */
  readonly spentMicroUsd: number;
  readonly unfinishedJobs: number;
}

interface AccountSearch {
  /** Part of a name or of a member's address, or an id; empty: all accounts. */
  readonly text: string;
  /** First day of the month whose spending is shown. */
  readonly month: string;
  readonly offset: number;
  readonly limit: number;
}

/** Returns the matching accounts, newest first. */
export async function searchAccounts(
  db: Queryable,
  { text, month, offset, limit }: AccountSearch,
): Promise<readonly ListedAccount[]> {
  return db.selectRows<ListedAccount>(
    `select id, name, plan, payment_method as "paymentMethod", unpaid_invoice as "unpaidInvoice", suspended,
       created_at as "createdAt",
       coalesce((select amount_micro_usd from monthly_spend where account_id = accounts.id and month = $2), 0)
         as "spentMicroUsd",
       (select count(*)::int from jobs where account_id = accounts.id and status in ('queued', 'processing'))
         as "unfinishedJobs"
     from accounts
     where $1 = '' or id = $1 or strpos(lower(name), lower($1)) > 0 or exists (
       select from memberships join users on users.id = user_id
       where account_id = accounts.id and strpos(email, lower($1)) > 0)
     order by created_at desc, id limit $4 offset $3`,
    [text, month, offset, limit],
  );
}
