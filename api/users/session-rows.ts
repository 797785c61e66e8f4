/** SQL of sessions. */
import type { Queryable } from '#api/store/database.ts';
import type { User } from '#api/users/user.ts';

export interface NewSession {
  readonly digest: Buffer;
  readonly userId: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly secondStepDue: boolean;
  readonly address: string;
  readonly agent: string;
}

export async function insertSession(db: Queryable, session: NewSession): Promise<void> {
  await db.query(
    `insert into user_sessions (digest, user_id, created_at, seen_at, expires_at, second_step_due, address, agent)
     values ($1, $2, $3, $3, $4, $5, $6, $7)`,
    [
      session.digest,
      session.userId,
      session.createdAt,
      session.expiresAt,
      session.secondStepDue,
      session.address,
      session.agent,
    ],
  );
}

export interface FoundSession {
  readonly user: User;
  readonly seenAt: Date;
  readonly secondStepDue: boolean;
}

type FoundRow = User & Omit<FoundSession, 'user'>;

/** null when it has ended. */
export async function findSession(
  db: Queryable,
  digest: Buffer,
  { now, seenAfter }: { now: Date; seenAfter: Date },
): Promise<FoundSession | null> {
  const { rows } = await db.query<FoundRow>(
    `select users.id, email, operator, password is not null as "hasPassword", totp_step is not null as "hasSecondStep",
       users.created_at as "createdAt", seen_at as "seenAt", second_step_due as "secondStepDue"
     from user_sessions join users on users.id = user_id where digest = $1 and expires_at > $2 and seen_at > $3`,
    [digest, now, seenAfter],
  );
  const [row] = rows;
  if (row === undefined) return null;
  const { seenAt, secondStepDue, ...user } = row;
  return { user, seenAt, secondStepDue };
}

export async function setSeen(db: Queryable, digest: Buffer, at: Date): Promise<void> {
  await db.query('update user_sessions set seen_at = $2 where digest = $1', [digest, at]);
}

/** Encrypted; replaces one that was not shown yet. */
export async function setNotice(db: Queryable, digest: Buffer, sealed: Buffer): Promise<void> {
  await db.query('update user_sessions set notice = $2 where digest = $1', [digest, sealed]);
}

/** Gives the notice and forgets it: of two readers one gets it. */
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

/** Those of the user that still work, newest first. */
export async function selectSessions(
  db: Queryable,
  userId: string,
  { now, seenAfter }: { now: Date; seenAfter: Date },
): Promise<readonly ListedSession[]> {
  const { rows } = await db.query<ListedSession>(
    `select digest, created_at as "createdAt", seen_at as "seenAt", address, agent from user_sessions
     where user_id = $1 and expires_at > $2 and seen_at > $3 and not second_step_due order by created_at desc`,
    [userId, now, seenAfter],
  );
  return rows;
}

export async function deleteSession(db: Queryable, digest: Buffer): Promise<void> {
  await db.query('delete from user_sessions where digest = $1', [digest]);
}

/** All of the user but that one; null: all. */
export async function deleteSessionsOf(db: Queryable, userId: string, but: Buffer | null): Promise<void> {
  await db.query('delete from user_sessions where user_id = $1 and ($2::bytea is null or digest <> $2)', [userId, but]);
}

export async function forgetSessions(db: Queryable, before: Date): Promise<void> {
  await db.query('delete from user_sessions where expires_at <= $1', [before]);
}
