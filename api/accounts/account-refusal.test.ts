import { describe, expect, it } from 'vitest';
import { accountRefusal } from '#api/accounts/account-refusal.ts';
import type { Account } from '#api/accounts/account.ts';

const good: Account = {
  id: 'acc_00000000000000000000',
  name: 'Good',
  plan: 'payg',
  paymentMethod: true,
  unpaidInvoice: false,
  suspended: false,
  spendCapMicroUsd: null,
  features: [],
  createdAt: new Date(0),
};
const codeOf = (livemode: boolean, change: Partial<Account>, group: 'billing' | 'permission') =>
  accountRefusal({ livemode, account: { ...good, ...change } }, group)?.code ?? null;

describe('accountRefusal', () => {
  // Promise, Authentication: 402 and 403 of the account, in their order
  it.each<[string, boolean, Partial<Account>, string | null]>([
    ['admits a live key of an account without problems', true, {}, null],
    [
      'refuses a live key without payment method and plan',
      true,
      { plan: 'none', paymentMethod: false },
      'no_payment_method',
    ],
    [
      'refuses a live key that pays as it goes without payment method',
      true,
      { paymentMethod: false },
      'no_payment_method',
    ],
    ['admits a live key of an invoiced plan', true, { plan: 'starter', paymentMethod: false }, null],
    ['refuses a live key with an unpaid invoice', true, { unpaidInvoice: true }, 'payment_required'],
    [
      'names the missing payment method first',
      true,
      { paymentMethod: false, unpaidInvoice: true },
      'no_payment_method',
    ],
    [
      'admits a test key of an unpaid account',
      false,
      { plan: 'none', paymentMethod: false, unpaidInvoice: true },
      null,
    ],
    ['leaves the suspension to the other group', true, { suspended: true }, null],
  ])('%s', (_rule, livemode, change, code) => {
    expect(codeOf(livemode, change, 'billing')).toBe(code);
  });

  it.each([true, false])('refuses every key of a suspended account (live: %s)', (livemode) => {
    expect(codeOf(livemode, { suspended: true }, 'permission')).toBe('account_suspended');
    expect(codeOf(livemode, {}, 'permission')).toBeNull();
  });
});
