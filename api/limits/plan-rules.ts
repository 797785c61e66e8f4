import type { Account } from '#api/accounts/account.ts';
import type { Caller } from '#api/accounts/find-caller.ts';
import { LIMITS, PLANS } from '#crds/catalogue/plans.ts';
import type { BucketRule } from './token-bucket.ts';

/** Account and mode whose requests are counted. */
export type LimitedCaller = Pick<Caller, 'livemode'> & { readonly account: Pick<Account, 'id' | 'plan'> };

const OTHER_MINIMUM_PER_SECOND = 20;

/** Returns the bucket of direct requests: docs/reference/limits-and-prices.md#rate-limits. */
export function directRule({ account, livemode }: LimitedCaller): BucketRule {
  return twoSeconds(livemode ? PLANS[account.plan].requestsPerSecond : LIMITS.testRequestsPerSecond);
}

/** Returns the bucket that all other keyed endpoints share. */
export function otherRule({ account, livemode }: LimitedCaller): BucketRule {
  const planned = 10 * PLANS[account.plan].requestsPerSecond;
  return twoSeconds(livemode ? Math.max(OTHER_MINIMUM_PER_SECOND, planned) : OTHER_MINIMUM_PER_SECOND);
}

/** Returns the limit of direct requests in flight, of both modes together. */
export function concurrentDirect({ account }: LimitedCaller): number {
  return PLANS[account.plan].concurrentDirect;
}

function twoSeconds(perSecond: number): BucketRule {
  return { capacity: 2 * perSecond, refillPerSecond: perSecond };
}
