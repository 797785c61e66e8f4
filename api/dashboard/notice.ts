import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import type { Notice } from '#api/dashboard/route.ts';
import { setNotice, takeNotice } from '#api/users/session-rows.ts';
import type { Session } from '#api/users/session.ts';

type NoticeDeps = Pick<DashboardDeps, 'database' | 'secretBox'>;

/** Keeps what the next page shall show, encrypted: it may hold a key. */
export async function leaveNotice(
  { database, secretBox }: NoticeDeps,
  { digest }: Pick<Session, 'digest'>,
  notice: Notice,
): Promise<void> {
  await setNotice(database, digest, secretBox.seal(JSON.stringify(notice), contextOf(digest)));
}

/** Gives it once. */
export async function readNotice(
  { database, secretBox }: NoticeDeps,
  { digest }: Pick<Session, 'digest'>,
): Promise<Notice | null> {
  const sealed = await takeNotice(database, digest);
  return sealed === null ? null : (JSON.parse(secretBox.open(sealed, contextOf(digest))) as Notice);
}

function contextOf(digest: Buffer): string {
  return `user-session-notice:${digest.toString('base64url')}`;
}
