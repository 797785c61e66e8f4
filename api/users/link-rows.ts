/** SQL of one-time links. */
import type { Queryable } from '#api/store/database.ts';

/** `password`: sets a new one and signs in (an invitation, a reset); `sign_in`: signs in. */
export type LinkPurpose = 'password' | 'sign_in';

export interface LinkTarget {
  readonly userId: string;
  readonly email: string;
  readonly purpose: LinkPurpose;
}

export async function insertLink(
  db: Queryable,
  link: { digest: Buffer; userId: string; purpose: LinkPurpose; createdAt: Date; expiresAt: Date },
): Promise<void> {
  await db.query(
    'insert into user_links (digest, user_id, purpose, created_at, expires_at) values ($1, $2, $3, $4, $5)',
    [link.digest, link.userId, link.purpose, link.createdAt, link.expiresAt],
  );
}

/** null when it is used, replaced or past its time. */
export async function findLink(db: Queryable, digest: Buffer, now: Date): Promise<LinkTarget | null> {
  const { rows } = await db.query<LinkTarget>(
    `select user_id as "userId", email, purpose from user_links join users on users.id = user_id
     where digest = $1 and expires_at > $2`,
    [digest, now],
  );
  return rows[0] ?? null;
}

/** Uses the link up; false when somebody else was first. */
export async function takeLink(tx: Queryable, digest: Buffer, now: Date): Promise<boolean> {
  const { rowCount } = await tx.query('delete from user_links where digest = $1 and expires_at > $2', [digest, now]);
  return rowCount === 1;
}

/** Older links of the user no longer work. */
export async function deleteLinks(tx: Queryable, userId: string): Promise<void> {
  await tx.query('delete from user_links where user_id = $1', [userId]);
}
