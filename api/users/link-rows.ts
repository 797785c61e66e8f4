/** SQL of one-time links into a login: resets and sign-ins. */
import type { Queryable } from '#api/store/database.ts';

/** Purpose of a link: a new password, the same without the second step, or a sign-in alone. */
export type LinkPurpose = 'password' | 'password_and_second_step' | 'sign_in';

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

/** Returns the target of a link; null when it was used or replaced, or has expired. */
export async function findLink(db: Queryable, digest: Buffer, now: Date): Promise<LinkTarget | null> {
  return db.findRow<LinkTarget>(
    `select user_id as "userId", email, purpose from user_links join users on users.id = user_id
     where digest = $1 and expires_at > $2`,
    [digest, now],
  );
}

/** Deletes a link that is used. Returns false when it has ended already. */
export async function consumeLink(tx: Queryable, digest: Buffer, now: Date): Promise<boolean> {
  return tx.changesRow('delete from user_links where digest = $1 and expires_at > $2', [digest, now]);
}

/** Ends every link of the user. */
export async function deleteLinks(tx: Queryable, userId: string): Promise<void> {
  await tx.query('delete from user_links where user_id = $1', [userId]);
}
