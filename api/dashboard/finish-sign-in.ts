import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import type { RouteReply, Visit } from '#api/dashboard/route.ts';
import { deleteSession } from '#api/users/session-rows.ts';
import { startSession } from '#api/users/session.ts';
import type { User } from '#api/users/user.ts';

/** Replaces the session of the browser by a new one of the user and redirects to `next`. */
export async function finishSignIn(
  deps: DashboardDeps,
  visit: Visit,
  { user, how, next }: { user: User; how: string; next: string },
): Promise<RouteReply> {
  await endSession(deps, visit);
  const session = await startSession(deps, { caller: visit, input: { user, how } });
  return { kind: 'redirect', to: next, session };
}

/** Starts a session whose second step is due and redirects to its form. */
export async function requireSecondStep(
  deps: DashboardDeps,
  visit: Visit,
  { user, next }: { user: User; next: string },
): Promise<RouteReply> {
  await endSession(deps, visit);
  const session = await startSession(deps, { caller: visit, input: { user, how: null } });
  return { kind: 'redirect', to: `/second-step?${new URLSearchParams({ next }).toString()}`, session };
}

/** Ends the session of the browser, complete or not. */
export async function endSession({ database }: DashboardDeps, { session, pending }: Visit): Promise<void> {
  const before = session ?? pending;
  if (before !== null) await deleteSession(database, before.digest);
}

/** Returns the path to go to after signing in: a valid path below the dashboard, else the start page. */
export function nextOf(text: string | null): string {
  return text !== null && /^\/[A-Za-z0-9_-][A-Za-z0-9_/.?=&%:,-]*$/.test(text) ? text : '/';
}
