/** SQL of accounts. */
import type { Account } from '#api/accounts/account.ts';
import { PREPARED, type Queryable } from '#api/store/database.ts';

const COLUMNS = `
  id, name, plan, payment_method as "paymentMethod", unpaid_invoice as "unpaidInvoice", suspended,
  spend_cap_micro_usd as "spendCapMicroUsd", features, created_at as "createdAt"`;

export async function insertAccount(db: Queryable, account: Account): Promise<void> {
  await db.query(
    `insert into accounts (id, name, plan, payment_method, unpaid_invoice, suspended, spend_cap_micro_usd, features, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [...columnValues(account), account.createdAt],
  );
}

export async function updateAccountRow(tx: Queryable, account: Account): Promise<void> {
  await tx.query(
    `update accounts set name = $2, plan = $3, payment_method = $4, unpaid_invoice = $5, suspended = $6,
       spend_cap_micro_usd = $7, features = $8 where id = $1`,
    columnValues(account),
  );
}

export async function findAccount(db: Queryable, id: string): Promise<Account | null> {
  return db.findRow<Account>(`select ${COLUMNS} from accounts where id = $1`, [id]);
}

export async function selectAccounts(db: Queryable): Promise<readonly Account[]> {
  return db.selectRows<Account>(`select ${COLUMNS} from accounts order by created_at, id`);
}

/**
 * Locks and returns the account's row until the transaction ends; null when there is none. Transactions that count an
 * account's keys, jobs or money and then add to them run one after the other. Rows that refer to the account can still
 * be written.
 */
export async function lockAccount(tx: Queryable, id: string): Promise<Account | null> {
  return tx.findRow<Account>(`select ${COLUMNS} from accounts where id = $1 for no key update`, [id], PREPARED);
}

function columnValues(account: Account): unknown[] {
  const { id, name, plan, paymentMethod, unpaidInvoice, suspended, spendCapMicroUsd, features } = account;
  return [id, name, plan, paymentMethod, unpaidInvoice, suspended, spendCapMicroUsd, [...features]];
}
