/** SQL of sessions. */
import type { Queryable } from '#api/store/database.ts';
import { USER_COLUMNS } from '#api/users/user-rows.ts';
import type { User } from '#api/users/user.ts';

export interface NewSession {
  readonly digest: Buffer;
  readonly userId: string;
  /** `generation` of the user when the password was checked. */
  readonly generation: number;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly secondStepDue: boolean;
  readonly address: string;
  readonly agent: string;
}

export async function insertSession(db: Queryable, session: NewSession): Promise<void> {
  await db.query(
    `insert into user_sessions (digest, user_id, created_at, seen_at, expires_at, second_step_due, address, agent, generation)
     values ($1, $2, $3, $3, $4, $5, $6, $7, $8)`,
    [
      session.digest,
      session.userId,
      session.createdAt,
      session.expiresAt,
      session.secondStepDue,
      session.address,
      session.agent,
      session.generation,
    ],
  );
}

export interface FoundSession {
  readonly user: User;
  readonly startedAt: Date;
  readonly seenAt: Date;
  readonly secondStepDue: boolean;
}

type FoundRow = User & Omit<FoundSession, 'user'>;

/** Returns the session; null when it has expired or a change of password or second step has ended it. */
export async function findSession(
  db: Queryable,
  digest: Buffer,
  { now, seenAfter }: { now: Date; seenAfter: Date },
): Promise<FoundSession | null> {
  const { rows } = await db.query<FoundRow>(
    `select ${USER_COLUMNS}, user_sessions.created_at as "startedAt", seen_at as "seenAt",
       second_step_due as "secondStepDue"
     from user_sessions join users on users.id = user_id and users.generation = user_sessions.generation
     where digest = $1 and expires_at > $2 and seen_at > $3`,
    [digest, now, seenAfter],
  );
  const [row] = rows;
  if (row === undefined) return null;
  const { startedAt, seenAt, secondStepDue, ...user } = row;
  return { user, startedAt, seenAt, secondStepDue };
}

export async function setSeen(db: Queryable, digest: Buffer, at: Date): Promise<void> {
  await db.query('update user_sessions set seen_at = $2 where digest = $1', [digest, at]);
}

/** Stores an encrypted notice of a session. Replaces one that was not shown yet. */
export async function setNotice(db: Queryable, digest: Buffer, sealed: Buffer): Promise<void> {
  await db.query('update user_sessions set notice = $2 where digest = $1', [digest, sealed]);
}

/** Returns the notice and deletes it, atomically; null when there is none. */
export async function takeNotice(db: Queryable, digest: Buffer): Promise<Buffer | null> {
  const { rows } = await db.query<{ notice: Buffer }>(
    `with taken as (select digest, notice from user_sessions where digest = $1 and notice is not null for update)
     update user_sessions as session set notice = null from taken
     where session.digest = taken.digest returning taken.notice`,
    [digest],
  );
  return rows[0]?.notice ?? null;
}

export interface ListedSession {
  readonly digest: Buffer;
  readonly createdAt: Date;
  readonly seenAt: Date;
  readonly address: string;
  readonly agent: string;
}

/** Returns the user's open sessions, newest first. */
export async function selectSessions(
  db: Queryable,
  userId: string,
  { now, seenAfter }: { now: Date; seenAfter: Date },
): Promise<readonly ListedSession[]> {
  return db.selectRows<ListedSession>(
    `select digest, user_sessions.created_at as "createdAt", seen_at as "seenAt", address, agent
     from user_sessions join users on users.id = user_id and users.generation = user_sessions.generation
     where user_id = $1 and expires_at > $2 and seen_at > $3 and not second_step_due
     order by user_sessions.created_at desc`,
    [userId, now, seenAfter],
  );
}

/** Keeps the session that has changed password or second step open; the change ends the others. */
export async function keepSession(tx: Queryable, digest: Buffer): Promise<void> {
  await tx.query(
    `update user_sessions set generation = users.generation, totp_pending = null
     from users where users.id = user_id and digest = $1`,
    [digest],
  );
}

/** Stores the encrypted secret of the second step that this session is setting up. */
export async function setPendingTotp(db: Queryable, digest: Buffer, sealed: Buffer): Promise<void> {
  await db.query('update user_sessions set totp_pending = $2 where digest = $1', [digest, sealed]);
}

/** Returns the encrypted secret; null when the session is setting up none. */
export async function findPendingTotp(db: Queryable, digest: Buffer): Promise<Buffer | null> {
  const { rows } = await db.query<{ sealed: Buffer | null }>(
    'select totp_pending as sealed from user_sessions where digest = $1',
    [digest],
  );
  return rows[0]?.sealed ?? null;
}

export async function deleteSession(db: Queryable, digest: Buffer): Promise<void> {
  await db.query('delete from user_sessions where digest = $1', [digest]);
}

/** Deletes the user's sessions except `but`; null: all. */
export async function deleteSessionsOf(db: Queryable, userId: string, but: Buffer | null): Promise<void> {
  await db.query('delete from user_sessions where user_id = $1 and ($2::bytea is null or digest <> $2)', [userId, but]);
}

export async function forgetSessions(db: Queryable, before: Date): Promise<void> {
  await db.query('delete from user_sessions where expires_at <= $1', [before]);
}
