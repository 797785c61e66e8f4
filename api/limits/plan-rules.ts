import type { Account } from '#api/accounts/account.ts';
import type { Caller } from '#api/accounts/find-caller.ts';
import { LIMITS, PLANS } from '#crds/plans.ts';
import type { BucketRule } from './token-bucket.ts';

/** Whose requests are counted. */
export type LimitedCaller = Pick<Caller, 'livemode'> & { readonly account: Pick<Account, 'id' | 'plan'> };

const OTHER_MINIMUM_PER_SECOND = 20;

/** The bucket of direct requests. Spec: Limits / Rate limit, Test keys (2 a second on every plan). */
export function directRule({ account, livemode }: LimitedCaller): BucketRule {
  return twoSeconds(livemode ? PLANS[account.plan].requestsPerSecond : LIMITS.testRequestsPerSecond);
}

/** The bucket that all other keyed endpoints share. Spec: Limits / Rate limit. */
export function otherRule({ account, livemode }: LimitedCaller): BucketRule {
  const planned = 10 * PLANS[account.plan].requestsPerSecond;
  return twoSeconds(livemode ? Math.max(OTHER_MINIMUM_PER_SECOND, planned) : OTHER_MINIMUM_PER_SECOND);
}

/** Direct requests in progress, of both modes together. Spec: Limits / Concurrency ("per account"). */
export function concurrentDirect({ account }: LimitedCaller): number {
  return PLANS[account.plan].concurrentDirect;
}

function twoSeconds(perSecond: number): BucketRule {
  return { capacity: 2 * perSecond, refillPerSecond: perSecond };
}
