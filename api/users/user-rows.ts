/** SQL of users. */
import type { Queryable } from '#api/store/database.ts';
import type { User } from '#api/users/user.ts';

const COLUMNS = `id, email, operator, password is not null as "hasPassword", totp_step is not null as "hasSecondStep",
  created_at as "createdAt"`;

/** The user of that address, made when there is none. */
export async function upsertUser(
  db: Queryable,
  user: { id: string; email: string; operator: boolean; createdAt: Date },
): Promise<User> {
  const { rows } = await db.query<User>(
    `insert into users as known (id, email, operator, created_at) values ($1, $2, $3, $4)
     on conflict (email) do update set operator = known.operator or excluded.operator returning ${COLUMNS}`,
    [user.id, user.email, user.operator, user.createdAt],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('an upsert gave no row');
  return row;
}

export async function findUserByEmail(db: Queryable, email: string): Promise<User | null> {
  const { rows } = await db.query<User>(`select ${COLUMNS} from users where email = $1`, [email]);
  return rows[0] ?? null;
}

export async function findUser(db: Queryable, id: string): Promise<User | null> {
  const { rows } = await db.query<User>(`select ${COLUMNS} from users where id = $1`, [id]);
  return rows[0] ?? null;
}

export async function selectUsers(db: Queryable): Promise<readonly User[]> {
  const { rows } = await db.query<User>(`select ${COLUMNS} from users order by email`);
  return rows;
}

/** What a sign-in is checked against. */
export interface Credentials {
  readonly userId: string;
  /** PHC string; null: none was set. */
  readonly password: string | null;
}

export async function findCredentials(db: Queryable, email: string): Promise<Credentials | null> {
  const { rows } = await db.query<Credentials>('select id as "userId", password from users where email = $1', [email]);
  return rows[0] ?? null;
}

export async function setPassword(db: Queryable, userId: string, password: string): Promise<void> {
  await db.query('update users set password = $2 where id = $1', [userId, password]);
}

/** A secret that counts once a code of it was taken; null switches the second step off. */
export async function setTotpSecret(db: Queryable, userId: string, sealed: Buffer | null): Promise<void> {
  await db.query('update users set totp_secret = $2, totp_step = null where id = $1', [userId, sealed]);
}

/** The encrypted secret; null when there is none. */
export async function findTotpSecret(db: Queryable, userId: string): Promise<Buffer | null> {
  const { rows } = await db.query<{ sealed: Buffer | null }>('select totp_secret as sealed from users where id = $1', [
    userId,
  ]);
  return rows[0]?.sealed ?? null;
}

/** false when a code of that step or a later one was taken before: each counts once. */
export async function takeTotpStep(db: Queryable, userId: string, step: number): Promise<boolean> {
  const { rowCount } = await db.query(
    'update users set totp_step = $2 where id = $1 and (totp_step is null or totp_step < $2)',
    [userId, step],
  );
  return rowCount === 1;
}

export async function findUserByIdentity(db: Queryable, identity: string): Promise<User | null> {
  const { rows } = await db.query<User>(`select ${COLUMNS} from users where identity = $1`, [identity]);
  return rows[0] ?? null;
}

/** Binds the identity to a user that has none yet; null when there is no such user. */
export async function bindIdentity(db: Queryable, email: string, identity: string): Promise<User | null> {
  const { rows } = await db.query<User>(
    `update users set identity = $2 where email = $1 and identity is null returning ${COLUMNS}`,
    [email, identity],
  );
  return rows[0] ?? null;
}

/** The user with its memberships and sessions. */
export async function deleteUser(db: Queryable, email: string): Promise<void> {
  await db.query('delete from users where email = $1', [email]);
}
