import { expect, it } from 'vitest';
import { spendCapOf } from '#api/billing/spend-cap.ts';
import { PLANS } from '#crds/catalogue/plans.ts';

it.each([
  ["the account's own", { spendCapMicroUsd: 5, plan: 'payg' }, 5],
  ["the account's own of 0", { spendCapMicroUsd: 0, plan: 'payg' }, 0],
  ["the plan's", { spendCapMicroUsd: null, plan: 'payg' }, PLANS.payg.spendCapMicroUsd],
  ['that of payg without a plan', { spendCapMicroUsd: null, plan: 'none' }, PLANS.payg.spendCapMicroUsd],
] as const)('spendCapOf returns %s', (_source, account, cap) => {
  expect(spendCapOf(account)).toBe(cap);
});
