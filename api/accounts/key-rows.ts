/** SQL of API keys. */
import type { Account } from '#api/accounts/account.ts';
import { findAccount } from '#api/accounts/account-rows.ts';
import type { Queryable } from '#api/store/database.ts';

export interface KeyRow {
  readonly id: string;
  readonly accountId: string;
  readonly livemode: boolean;
  readonly name: string;
  readonly hint: string;
  readonly allowList: readonly string[];
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
  /** When it first came over plain http and so may be known to others. */
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

/** Of one account, or of all when it is null; oldest first. */
export async function selectKeys(db: Queryable, accountId: string | null): Promise<readonly KeyRow[]> {
  const { rows } = await db.query<KeyRow>(
    `select ${COLUMNS} from api_keys where $1::text is null or account_id = $1 order by created_at, id`,
    [accountId],
  );
  return rows;
}

/** Revokes the key unless it is revoked already; null when there is no such key. */
export async function setRevoked(db: Queryable, id: string, at: Date): Promise<KeyRow | null> {
  const { rows } = await db.query<KeyRow>(
    `update api_keys set revoked_at = coalesce(revoked_at, $2) where id = $1 returning ${COLUMNS}`,
    [id, at],
  );
  return rows[0] ?? null;
}

/** The key with that digest and its account, as they are now. */
export async function selectCaller(db: Queryable, digest: Buffer): Promise<{ account: Account; key: KeyRow } | null> {
  const { rows } = await db.query<KeyRow>(`select ${COLUMNS} from api_keys where digest = $1`, [digest]);
  const [key] = rows;
  const account = key === undefined ? null : await findAccount(db, key.accountId);
  return key === undefined || account === null ? null : { key, account };
}

/** Notes the use unless one after `notSince` is noted. */
export async function setLastUsed(db: Queryable, keyId: string, use: { at: Date; notSince: Date }): Promise<void> {
  await db.query(
    'update api_keys set last_used_at = $2 where id = $1 and (last_used_at is null or last_used_at <= $3)',
    [keyId, use.at, use.notSince],
  );
}

/** Notes the first time only. */
export async function setExposed(db: Queryable, digest: Buffer, at: Date): Promise<void> {
  await db.query('update api_keys set exposed_at = $2 where digest = $1 and exposed_at is null', [digest, at]);
}
