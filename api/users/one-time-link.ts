/**
 * Links that a person is given once.
 *
 *   (none) ──made by mediactl, an operator or an owner──→ waiting ──its form is sent──→ gone
 *                                                          ├── a newer one for the user ──→ gone
 *                                                          └── past its time ──→ gone
 *
 * Opening it only shows a form, so a program that looks at links in mail does not use it up.
 */
import { deleteLinks, insertLink, type LinkPurpose } from '#api/users/link-rows.ts';
import { newToken, tokenDigest } from '#api/users/token.ts';
import type { Database } from '#api/store/database.ts';
import type { Clock } from '#crds/shared/clock.ts';

const HOUR_MS = 3600 * 1000;
const LASTS_MS: Readonly<Record<LinkPurpose, number>> = { password: 72 * HOUR_MS, sign_in: HOUR_MS };

export interface OneTimeLink {
  /** Below the dashboard's address. */
  readonly path: string;
  readonly expiresAt: Date;
}

export async function makeLink(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  { userId, purpose }: { userId: string; purpose: LinkPurpose },
): Promise<OneTimeLink> {
  const token = newToken();
  const createdAt = clock.now();
  const expiresAt = new Date(createdAt.getTime() + LASTS_MS[purpose]);
  await database.transaction(async (tx) => {
    await deleteLinks(tx, userId);
    await insertLink(tx, { digest: tokenDigest(token), userId, purpose, createdAt, expiresAt });
  });
  return { path: `/links/${token}`, expiresAt };
}
