import type { AccountCaller } from '#api/accounts/find-caller.ts';
import { LIMITS, PLANS } from '#crds/catalogue/plans.ts';

/** Returns the maximum size of a file in a direct request, in bytes. */
export function maxDirectBytes({ account, livemode }: Pick<AccountCaller, 'account' | 'livemode'>): number {
  return livemode ? PLANS[account.plan].maxSyncBytes : LIMITS.testDirectBytes;
}
