/** SQL of who may do what in which account. */
import type { Queryable } from '#api/store/database.ts';
import type { Role } from '#api/users/user.ts';

export interface Membership {
  readonly accountId: string;
  readonly accountName: string;
  readonly role: Role;
}

/** The user's accounts, by name. */
export async function selectMemberships(db: Queryable, userId: string): Promise<readonly Membership[]> {
  const { rows } = await db.query<Membership>(
    `select account_id as "accountId", name as "accountName", role
     from memberships join accounts on accounts.id = account_id where user_id = $1 order by name, account_id`,
    [userId],
  );
  return rows;
}

/** null when the user is no member. */
export async function findRole(
  db: Queryable,
  { userId, accountId }: { userId: string; accountId: string },
): Promise<Role | null> {
  const { rows } = await db.query<{ role: Role }>(
    'select role from memberships where user_id = $1 and account_id = $2',
    [userId, accountId],
  );
  return rows[0]?.role ?? null;
}

interface Member {
  readonly userId: string;
  readonly email: string;
  readonly role: Role;
  readonly since: Date;
}

/** Members of an account, by address. */
export async function selectMembers(db: Queryable, accountId: string): Promise<readonly Member[]> {
  const { rows } = await db.query<Member>(
    `select user_id as "userId", email, role, memberships.created_at as since
     from memberships join users on users.id = user_id where account_id = $1 order by email`,
    [accountId],
  );
  return rows;
}

/** A new member, or another role for one. */
export async function setMembership(
  db: Queryable,
  { userId, accountId, role, at }: { userId: string; accountId: string; role: Role; at: Date },
): Promise<void> {
  await db.query(
    `insert into memberships (user_id, account_id, role, created_at) values ($1, $2, $3, $4)
     on conflict (user_id, account_id) do update set role = excluded.role`,
    [userId, accountId, role, at],
  );
}

export async function removeMembership(
  db: Queryable,
  { userId, accountId }: { userId: string; accountId: string },
): Promise<void> {
  await db.query('delete from memberships where user_id = $1 and account_id = $2', [userId, accountId]);
}
