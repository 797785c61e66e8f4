import { audit } from '#api/dashboard/audit.ts';
import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import type { Reply, Visit } from '#api/dashboard/route.ts';
import { deleteSession } from '#api/users/session-rows.ts';
import { startSession } from '#api/users/session.ts';
import type { User } from '#api/users/user.ts';

/** Signs the user in: a new session, whatever the browser had before, and on to where it wanted to go. */
export async function signedIn(
  deps: DashboardDeps,
  visit: Visit,
  { user, how, next }: { user: User; how: string; next: string },
): Promise<Reply> {
  const before = visit.session ?? visit.pending;
  if (before !== null) await deleteSession(deps.database, before.digest);
  const session = await startSession(deps, { userId: user.id, secondStepDue: false, visitor: visit });
  await audit(deps, { user, address: visit.address }, { action: `sign_in.${how}`, target: null, accountId: null });
  return { kind: 'redirect', to: next, session };
}

/** Where to go after signing in: a path of ours, or the start page. */
export function nextOf(text: string | null): string {
  return text !== null && /^\/[A-Za-z0-9_-][A-Za-z0-9_/.?=&%:,-]*$/.test(text) ? text : '/';
}
