import type { AccountCaller } from '#api/accounts/find-caller.ts';
import type { PersonActor } from '#api/audit/audit.ts';
import type { AccountVisit, UserVisit } from '#api/dashboard/route.ts';

/** Returns the signed-in user as recorded in the audit log. */
export function actorOf({ user, address }: Pick<UserVisit, 'user' | 'address'>): PersonActor {
  return { kind: 'person', user, address };
}

/** Returns the account of the page as the caller of API functions, in live mode by default. */
export function callerOf(visit: AccountVisit, livemode = true): AccountCaller {
  return { account: visit.account, livemode, actor: actorOf(visit) };
}
