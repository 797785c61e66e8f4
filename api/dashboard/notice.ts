import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import type { Notice } from '#api/dashboard/route.ts';
import { setNotice, takeNotice } from '#api/users/session-rows.ts';
import type { Session } from '#api/users/session.ts';

type NoticeDeps = Pick<DashboardDeps, 'database' | 'secretBox'>;

/** Stores a notice for the next page, encrypted because it may contain a key. */
export async function storeNotice(
  { database, secretBox }: NoticeDeps,
  { digest }: Pick<Session, 'digest'>,
  notice: Notice,
): Promise<void> {
  await setNotice(database, digest, secretBox.seal(JSON.stringify(notice), contextOf(digest)));
}

/** Returns the stored notice and deletes it; null without one. */
export async function consumeNotice(
  { database, secretBox }: NoticeDeps,
  { digest }: Pick<Session, 'digest'>,
): Promise<Notice | null> {
  const sealed = await takeNotice(database, digest);
  return sealed === null ? null : (JSON.parse(secretBox.open(sealed, contextOf(digest))) as Notice);
}

function contextOf(digest: Buffer): string {
  return `user-session-notice:${digest.toString('base64url')}`;
}
