import type { Queryable } from '#api/store/database.ts';

/** Returns the account's encrypted signing secret; null before it is first needed. */
export async function findSigningSecret(db: Queryable, accountId: string): Promise<Buffer | null> {
  const { rows } = await db.query<{ secret: Buffer | null }>(
    'select signing_secret as secret from accounts where id = $1',
    [accountId],
  );
  return rows[0]?.secret ?? null;
}

/** Stores the encrypted secret unless the account has one. Returns the stored one. */
export async function keepSigningSecret(db: Queryable, accountId: string, sealed: Buffer): Promise<Buffer> {
  const { rows } = await db.query<{ secret: Buffer }>(
    'update accounts set signing_secret = coalesce(signing_secret, $2) where id = $1 returning signing_secret as secret',
    [accountId, sealed],
  );
  const kept = rows[0]?.secret;
  if (kept === undefined) throw new Error(`there is no account ${accountId}`);
  return kept;
}
