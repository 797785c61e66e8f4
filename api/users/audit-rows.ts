/** SQL of the audit log: who changed what in the dashboard, when and from where. */
import type { Queryable } from '#api/store/database.ts';

export interface AuditEntry {
  readonly at: Date;
  readonly userId: string | null;
  readonly email: string;
  readonly address: string;
  /** null: not about one account. */
  readonly accountId: string | null;
  /** Such as `key.create`. */
  readonly action: string;
  /** Id or name of what was changed. */
  readonly target: string | null;
}

export async function insertAudit(db: Queryable, entry: AuditEntry): Promise<void> {
  await db.query(
    'insert into audit_log (at, user_id, email, address, account_id, action, target) values ($1, $2, $3, $4, $5, $6, $7)',
    [entry.at, entry.userId, entry.email, entry.address, entry.accountId, entry.action, entry.target],
  );
}

/** Newest first, older than `before`. `accountId` null: of the whole installation. */
export async function selectAudit(
  db: Queryable,
  { accountId, before, limit }: { accountId: string | null; before: number | null; limit: number },
): Promise<readonly (AuditEntry & { readonly id: number })[]> {
  const { rows } = await db.query<AuditEntry & { id: number }>(
    `select id, at, user_id as "userId", email, address, account_id as "accountId", action, target from audit_log
     where ($1::text is null or account_id = $1) and ($2::bigint is null or id < $2) order by id desc limit $3`,
    [accountId, before, limit],
  );
  return rows;
}
