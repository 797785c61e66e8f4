/**
 * One-time links: a reset or a sign-in. `mediactl` creates them, and the start of one machine one for its first
 * operator: nobody else, because they sign their reader in as the user.
 *
 *   (none) ──created by mediactl──→ unused ──its form is sent──→ deleted
 *                                     ├── a newer link, an accepted invitation or a new password ──→ deleted
 *                                     └── lifetime over ──→ expired
 *
 * A GET of the link only shows a form, so that programs that check links in mail do not consume it.
 */
import { deleteLinks, insertLink, type LinkPurpose } from '#api/users/link-rows.ts';
import { newToken, tokenDigest } from '#api/users/token.ts';
import type { Queryable } from '#api/store/database.ts';

const HOUR_MS = 3600 * 1000;
const LIFETIME_MS: Readonly<Record<LinkPurpose, number>> = {
  password: 72 * HOUR_MS,
  password_and_second_step: 72 * HOUR_MS,
  sign_in: HOUR_MS,
};

export interface OneTimeLink {
  /** Path below the dashboard's address. */
  readonly path: string;
  readonly expiresAt: Date;
}

/** Creates a one-time link in the caller's transaction; earlier links of the user end. */
export async function makeLink(
  tx: Queryable,
  { userId, purpose, at }: { userId: string; purpose: LinkPurpose; at: Date },
): Promise<OneTimeLink> {
  const token = newToken();
  const expiresAt = new Date(at.getTime() + LIFETIME_MS[purpose]);
  await deleteLinks(tx, userId);
  await insertLink(tx, { digest: tokenDigest(token), userId, purpose, createdAt: at, expiresAt });
  return { path: `/links/${token}`, expiresAt };
}
