/** SQL of users. */
import type { Queryable } from '#api/store/database.ts';
import type { User } from '#api/users/user.ts';

export const USER_COLUMNS = `users.id, users.email, users.operator, users.password is not null as "hasPassword",
  users.totp_step is not null as "hasSecondStep", users.identity is not null as "hasIdentity",
  users.generation, users.created_at as "createdAt"`;

interface NewUser {
  readonly id: string;
  readonly email: string;
  readonly operator: boolean;
  /** PHC string; null: none is set. */
  readonly password: string | null;
  /** Issuer and subject at the identity provider; null: none is bound. */
  readonly identity: string | null;
  readonly createdAt: Date;
}

export async function insertUser(db: Queryable, user: NewUser): Promise<void> {
  await db.query(
    'insert into users (id, email, operator, password, identity, created_at) values ($1, $2, $3, $4, $5, $6)',
    [user.id, user.email, user.operator, user.password, user.identity, user.createdAt],
  );
}

/** Returns the users of an address, oldest first. */
export async function selectUsersByEmail(db: Queryable, email: string): Promise<readonly User[]> {
  return db.selectRows<User>(`select ${USER_COLUMNS} from users where email = $1 order by created_at, id`, [email]);
}

export async function findUser(db: Queryable, id: string): Promise<User | null> {
  return db.findRow<User>(`select ${USER_COLUMNS} from users where id = $1`, [id]);
}

export async function selectUsers(db: Queryable): Promise<readonly User[]> {
  return db.selectRows<User>(`select ${USER_COLUMNS} from users order by email, created_at, id`);
}

/** User with the stored password. */
interface Credentials {
  readonly user: User;
  /** PHC string; null: none was set. */
  readonly password: string | null;
}

/** Returns the credentials of the users of an address, oldest first. */
export async function selectCredentials(db: Queryable, email: string): Promise<readonly Credentials[]> {
  const { rows } = await db.query<User & { password: string | null }>(
    `select ${USER_COLUMNS}, users.password from users where email = $1 order by created_at, id`,
    [email],
  );
  return rows.map(({ password, ...user }) => ({ user, password }));
}

export async function findPassword(db: Queryable, userId: string): Promise<string | null> {
  const { rows } = await db.query<{ password: string | null }>('select password from users where id = $1', [userId]);
  return rows[0]?.password ?? null;
}

/** User as read before a change, which is refused when password or second step were changed since then. */
interface UserVersion {
  readonly id: string;
  readonly generation: number;
}

/** Sets the password and so ends every session. Returns false when password or second step were changed meanwhile. */
export async function setPassword(tx: Queryable, { id, generation }: UserVersion, password: string): Promise<boolean> {
  return tx.changesRow(
    'update users set password = $3, generation = generation + 1 where id = $1 and generation = $2',
    [id, generation, password],
  );
}

/**
 * Switches the second step on, with the time step of the code that confirmed it, or off (null). Ends every session.
 * Returns false when password or second step were changed meanwhile.
 */
export async function setSecondStep(
  tx: Queryable,
  { id, generation }: UserVersion,
  on: { readonly sealed: Buffer; readonly step: number } | null,
): Promise<boolean> {
  return tx.changesRow(
    'update users set totp_secret = $3, totp_step = $4, generation = generation + 1 where id = $1 and generation = $2',
    [id, generation, on?.sealed ?? null, on?.step ?? null],
  );
}

export async function setOperator(tx: Queryable, userId: string): Promise<void> {
  await tx.query('update users set operator = true where id = $1', [userId]);
}

/** Returns the encrypted secret of the second step; null when there is none. */
export async function findTotpSecret(db: Queryable, userId: string): Promise<Buffer | null> {
  const { rows } = await db.query<{ sealed: Buffer | null }>('select totp_secret as sealed from users where id = $1', [
    userId,
  ]);
  return rows[0]?.sealed ?? null;
}

/** Records the time step of an accepted code. Returns false when that step or a later one was accepted before. */
export async function consumeTotpStep(db: Queryable, userId: string, step: number): Promise<boolean> {
  return db.changesRow('update users set totp_step = $2 where id = $1 and (totp_step is null or totp_step < $2)', [
    userId,
    step,
  ]);
}

export async function findUserByIdentity(db: Queryable, identity: string): Promise<User | null> {
  return db.findRow<User>(`select ${USER_COLUMNS} from users where identity = $1`, [identity]);
}

/** Binds the identity to a user that has none. Returns false when either has one already. */
export async function bindIdentity(db: Queryable, userId: string, identity: string): Promise<boolean> {
  return db.changesRow(
    `update users set identity = $2 where id = $1 and identity is null
       and not exists (select from users as other where other.identity = $2)`,
    [userId, identity],
  );
}

/** Deletes the user with its memberships, sessions and the invitations that it has sent. */
export async function deleteUser(db: Queryable, userId: string): Promise<void> {
  await db.query('delete from users where id = $1', [userId]);
}

/** Deletes a user who is in no account and no operator. */
export async function deleteIdleUser(tx: Queryable, userId: string): Promise<void> {
  await tx.query(
    'delete from users where id = $1 and not operator and not exists (select from memberships where user_id = $1)',
    [userId],
  );
}
