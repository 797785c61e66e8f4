import { describe, expect, it } from 'vitest';
import { concurrentDirect, directRule, otherRule, type LimitedCaller } from '#api/limits/plan-rules.ts';
import { LIMITS, PLANS, type PlanName } from '#crds/catalogue/plans.ts';

const caller = (plan: PlanName, livemode = true): LimitedCaller => ({ account: { id: 'acc_a', plan }, livemode });

describe('directRule', () => {
  it('allows a burst of two seconds of the plan with a live key', () => {
    const perSecond = PLANS.payg.requestsPerSecond;
    expect(directRule(caller('payg'))).toEqual({ capacity: 2 * perSecond, refillPerSecond: perSecond });
  });

  it('has the same limit for test keys of every plan', () => {
    for (const plan of ['none', 'payg', 'enterprise'] as const)
      expect(directRule(caller(plan, false)).refillPerSecond).toBe(LIMITS.testRequestsPerSecond);
  });
});

describe('otherRule', () => {
  it('allows ten times the direct requests of the plan, and 20 per second at least', () => {
    expect(otherRule(caller('enterprise')).refillPerSecond).toBe(10 * PLANS.enterprise.requestsPerSecond);
    expect(otherRule(caller('none')).refillPerSecond).toBeGreaterThanOrEqual(20);
    expect(otherRule(caller('enterprise', false)).refillPerSecond).toBe(20);
  });
});

describe('concurrentDirect', () => {
  it('is that of the plan in both modes together', () => {
    expect(concurrentDirect(caller('payg'))).toBe(PLANS.payg.concurrentDirect);
    expect(concurrentDirect(caller('payg', false))).toBe(PLANS.payg.concurrentDirect);
  });
});
