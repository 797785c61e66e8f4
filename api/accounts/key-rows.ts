/** SQL of API keys. */
import type { Account } from '#api/accounts/account.ts';
import { anyLength, PREPARED, type Queryable } from '#api/store/database.ts';

export interface KeyRow {
  readonly id: string;
  readonly accountId: string;
  readonly livemode: boolean;
  readonly name: string;
  readonly hint: string;
  readonly allowList: readonly string[];
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
  /** Time when it was first sent over plain http, so that others may know it. */
  readonly exposedAt: Date | null;
  readonly revokedAt: Date | null;
}

const COLUMNS = `
  id, account_id as "accountId", livemode, name, hint, allow_list as "allowList", created_at as "createdAt",
  last_used_at as "lastUsedAt", exposed_at as "exposedAt", revoked_at as "revokedAt"`;

export type NewKeyRow = Omit<KeyRow, 'lastUsedAt' | 'exposedAt' | 'revokedAt'> & { readonly digest: Buffer };

export async function insertKey(tx: Queryable, key: NewKeyRow): Promise<void> {
  await tx.query(
    `insert into api_keys (id, account_id, livemode, name, hint, allow_list, created_at, digest)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [key.id, key.accountId, key.livemode, key.name, key.hint, [...key.allowList], key.createdAt, key.digest],
  );
}

export async function countActiveKeys(tx: Queryable, accountId: string): Promise<number> {
  const { rows } = await tx.query<{ count: number }>(
    'select count(*) as count from api_keys where account_id = $1 and revoked_at is null',
    [accountId],
  );
  return rows[0]?.count ?? 0;
}

/** Returns the keys of an account, or of all accounts for null, oldest first. */
export async function selectKeys(db: Queryable, accountId: string | null): Promise<readonly KeyRow[]> {
  return db.selectRows<KeyRow>(
    `select ${COLUMNS} from api_keys where $1::text is null or account_id = $1 order by created_at, id`,
    [accountId],
  );
}

/** Revokes the key unless it is revoked already. Returns null when there is none. */
export async function setRevoked(db: Queryable, id: string, at: Date): Promise<KeyRow | null> {
  return db.findRow<KeyRow>(
    `update api_keys set revoked_at = coalesce(revoked_at, $2) where id = $1 returning ${COLUMNS}`,
    [id, at],
  );
}

/** Part of a key that authentication needs. */
export type CallerKey = Pick<KeyRow, 'id' | 'livemode' | 'allowList' | 'lastUsedAt' | 'revokedAt'> & {
  readonly digest: Buffer;
};

type CallerRow = Omit<CallerKey, 'id'> & Omit<Account, 'id'> & { readonly keyId: string; readonly accountId: string };

/** Returns the key with one of the digests, and its account. One query, because a digest may be replaced meanwhile. */
export async function selectCaller(
  db: Queryable,
  digests: readonly Buffer[],
): Promise<{ account: Account; key: CallerKey } | null> {
  const { rows } = await db.query<CallerRow>(
    `select key.id as "keyId", key.digest, key.livemode, key.allow_list as "allowList", key.last_used_at as "lastUsedAt",
       key.revoked_at as "revokedAt", account.id as "accountId", account.name, account.plan,
       account.payment_method as "paymentMethod", account.unpaid_invoice as "unpaidInvoice", account.suspended,
       account.spend_cap_micro_usd as "spendCapMicroUsd", account.features, account.created_at as "createdAt"
     from api_keys as key join accounts as account on account.id = key.account_id
     where key.digest = any (${anyLength('$1::bytea[]')})`,
    [digests],
    PREPARED,
  );
  const [row] = rows;
  if (row === undefined) return null;
  const { keyId, digest, livemode, allowList, lastUsedAt, revokedAt, accountId, ...account } = row;
  return {
    key: { id: keyId, digest, livemode, allowList, lastUsedAt, revokedAt },
    account: { id: accountId, ...account },
  };
}

/** Records the use unless one after `notSince` is recorded. */
export async function setLastUsed(db: Queryable, keyId: string, use: { at: Date; notSince: Date }): Promise<void> {
  await db.query(
    'update api_keys set last_used_at = $2 where id = $1 and (last_used_at is null or last_used_at <= $3)',
    [keyId, use.at, use.notSince],
  );
}

export async function setDigest(db: Queryable, keyId: string, digest: Buffer): Promise<void> {
  await db.query('update api_keys set digest = $2 where id = $1', [keyId, digest]);
}

/** Records that keys were sent over plain http; the first time stays. */
export async function setExposed(db: Queryable, digests: readonly Buffer[], at: Date): Promise<void> {
  await db.query('update api_keys set exposed_at = $2 where digest = any($1::bytea[]) and exposed_at is null', [
    digests,
    at,
  ]);
}
