/** SQL of invitations. */
import type { Queryable } from '#api/store/database.ts';
import type { Role } from '#api/users/user.ts';

interface InvitationTarget {
  readonly email: string;
  /** null: for the installation only. */
  readonly accountId: string | null;
  /** null exactly when `accountId` is. */
  readonly role: Role | null;
  /** True: makes the person an operator of the installation. */
  readonly operator: boolean;
}

export interface Invitation extends InvitationTarget {
  /** null: for the installation only. */
  readonly accountName: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

interface NewInvitation extends InvitationTarget {
  readonly digest: Buffer;
  /** null: made with `mediactl`. */
  readonly invitedBy: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

const COLUMNS = `invitations.email, account_id as "accountId", accounts.name as "accountName", role, operator,
  invitations.created_at as "createdAt", expires_at as "expiresAt"`;

/** Inserts the invitation. It replaces an earlier one for the same address and account, whose link ends. */
export async function putInvitation(tx: Queryable, invitation: NewInvitation): Promise<void> {
  const { digest, email, accountId, role, operator, invitedBy, createdAt, expiresAt } = invitation;
  await tx.query(
    `insert into invitations (digest, email, account_id, role, operator, invited_by, created_at, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8)
     on conflict (email, coalesce(account_id, '')) do update set digest = excluded.digest, role = excluded.role,
       operator = excluded.operator, invited_by = excluded.invited_by, created_at = excluded.created_at,
       expires_at = excluded.expires_at`,
    [digest, email, accountId, role, operator, invitedBy, createdAt, expiresAt],
  );
}

/** Returns the invitation of a link; null when it was accepted, withdrawn or replaced, or has expired. */
export async function findInvitation(db: Queryable, digest: Buffer, now: Date): Promise<Invitation | null> {
  return db.findRow<Invitation>(
    `select ${COLUMNS} from invitations left join accounts on accounts.id = account_id
     where digest = $1 and expires_at > $2`,
    [digest, now],
  );
}

/** Deletes an invitation that is accepted. Returns false when it has ended already. */
export async function consumeInvitation(tx: Queryable, digest: Buffer, now: Date): Promise<boolean> {
  return tx.changesRow('delete from invitations where digest = $1 and expires_at > $2', [digest, now]);
}

/** Returns the open invitations into an account, by address. */
export async function selectInvitations(db: Queryable, accountId: string, now: Date): Promise<readonly Invitation[]> {
  return db.selectRows<Invitation>(
    `select ${COLUMNS} from invitations join accounts on accounts.id = account_id
     where account_id = $1 and expires_at > $2 order by invitations.email`,
    [accountId, now],
  );
}

/** Withdraws the invitation of an address into an account. Returns false when there is none. */
export async function deleteInvitation(
  db: Queryable,
  { email, accountId }: { email: string; accountId: string },
): Promise<boolean> {
  const { rowCount } = await db.query('delete from invitations where email = $1 and account_id = $2', [
    email,
    accountId,
  ]);
  return rowCount > 0;
}

/** Withdraws the invitations that a former owner has sent for an account. */
export async function deleteInvitationsBy(
  tx: Queryable,
  { userId, accountId }: { userId: string; accountId: string },
): Promise<void> {
  await tx.query('delete from invitations where invited_by = $1 and account_id = $2', [userId, accountId]);
}

/** Withdraws every invitation of an address. Returns their number. */
export async function deleteInvitationsOf(db: Queryable, email: string): Promise<number> {
  return db.countChanged('delete from invitations where email = $1', [email]);
}

/** Deletes invitations that expired by `before`. */
export async function forgetInvitations(db: Queryable, before: Date): Promise<void> {
  await db.query('delete from invitations where expires_at <= $1', [before]);
}
