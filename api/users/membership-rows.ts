/** SQL of memberships: the roles of users in accounts. */
import type { Queryable } from '#api/store/database.ts';
import type { Role } from '#api/users/user.ts';

export interface Membership {
  readonly accountId: string;
  readonly accountName: string;
  readonly role: Role;
}

/** Returns the user's memberships, by account name. */
export async function selectMemberships(db: Queryable, userId: string): Promise<readonly Membership[]> {
  return db.selectRows<Membership>(
    `select account_id as "accountId", name as "accountName", role
     from memberships join accounts on accounts.id = account_id where user_id = $1 order by name, account_id`,
    [userId],
  );
}

/** Returns the user's role in an account; null when the user is no member. */
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

/** Returns the members of an account, by address. */
export async function selectMembers(db: Queryable, accountId: string): Promise<readonly Member[]> {
  return db.selectRows<Member>(
    `select user_id as "userId", email, role, memberships.created_at as since
     from memberships join users on users.id = user_id where account_id = $1 order by email`,
    [accountId],
  );
}

/** Inserts the membership of an accepted invitation; a member's role becomes the invited one. */
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

/** Changes the role of a member. Changes nothing for other users. */
export async function changeRole(
  tx: Queryable,
  { userId, accountId, role }: { userId: string; accountId: string; role: Role },
): Promise<void> {
  await tx.query('update memberships set role = $3 where user_id = $1 and account_id = $2', [userId, accountId, role]);
}

/** Returns the ids of the accounts with the user as only owner. */
export async function selectSoleOwnerships(db: Queryable, userId: string): Promise<readonly string[]> {
  const { rows } = await db.query<{ accountId: string }>(
    `select account_id as "accountId" from memberships as own where user_id = $1 and role = 'owner' and not exists
       (select from memberships as other where other.account_id = own.account_id and other.role = 'owner'
          and other.user_id <> own.user_id)
     order by account_id`,
    [userId],
  );
  return rows.map(({ accountId }) => accountId);
}

export async function removeMembership(
  db: Queryable,
  { userId, accountId }: { userId: string; accountId: string },
): Promise<void> {
  await db.query('delete from memberships where user_id = $1 and account_id = $2', [userId, accountId]);
}
