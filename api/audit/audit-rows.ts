/** SQL of the audit log: person, address, time, action and target of each change. */
import type { Queryable } from '#api/store/database.ts';

export interface AuditEntry {
  readonly at: Date;
  /** Id of the person; null: changed with `mediactl` or an API key. */
  readonly userId: string | null;
  /** Email address of the person, id of the API key (from earlier releases `an API key`), or `mediactl`. */
  readonly email: string;
  /** IP address of the client; empty for `mediactl`, and for API keys in entries of earlier releases. */
  readonly address: string;
  /** Account that the change concerns; null: none or several. */
  readonly accountId: string | null;
  /** Name of the action, such as `key.create`. */
  readonly action: string;
  /** Id or name of the changed thing. */
  readonly target: string | null;
}

/** Entry as it is shown. */
export interface ShownAuditEntry extends AuditEntry {
  readonly id: number;
  /** Whether the target is a webhook endpoint that no longer exists: it has no page. */
  readonly isTargetDeleted: boolean;
}

export async function insertAudit(db: Queryable, entry: AuditEntry): Promise<void> {
  await db.query(
    'insert into audit_log (at, user_id, email, address, account_id, action, target) values ($1, $2, $3, $4, $5, $6, $7)',
    [entry.at, entry.userId, entry.email, entry.address, entry.accountId, entry.action, entry.target],
  );
}

/**
 * Returns entries older than the entry `before`, newest first.
 * @param accountId null: entries of the whole installation.
 */
export async function selectAudit(
  db: Queryable,
  { accountId, before, limit }: { accountId: string | null; before: number | null; limit: number },
): Promise<readonly ShownAuditEntry[]> {
  return db.selectRows<ShownAuditEntry>(
    `select id, at, user_id as "userId", email, address, account_id as "accountId", action, target,
       exists (select 1 from webhook_endpoints where webhook_endpoints.id = target and deleted_at is not null) as "isTargetDeleted"
     from audit_log
     where ($1::text is null or account_id = $1) and ($2::bigint is null or id < $2) order by id desc limit $3`,
    [accountId, before, limit],
  );
}
