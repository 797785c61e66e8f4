import { describe, expect, it } from 'vitest';
import { readUsage, type UsageDays } from '#api/billing/read-usage.ts';
import { LIMITS } from '#crds/catalogue/plans.ts';
import { findAccount } from '#api/accounts/account-rows.ts';
import { testDatabase } from '#test/support/database.ts';
import { buildAccount } from '#test/support/job-builder.ts';

const database = await testDatabase();
const { id } = await buildAccount(database);
const account = await findAccount(database, id);
const clock = { now: () => new Date('2026-02-03T23:59:59.999Z') };

async function usageOf(input: UsageDays) {
  if (account === null) throw new Error('no account');
  return readUsage({ database, clock }, { caller: { account, livemode: true }, input });
}

describe('readUsage', () => {
  it('covers this month until today by default, in UTC', async () => {
    expect(await usageOf({ from: null, to: null })).toMatchObject({ from: '2026-02-01', to: '2026-02-03' });
  });

  it('accepts a single day and the longest range', async () => {
    expect(await usageOf({ from: '2026-02-03', to: null })).toMatchObject({ from: '2026-02-03', to: '2026-02-03' });
    const first = new Date(Date.parse('2026-02-03') - (LIMITS.usageDays - 1) * 86_400_000).toISOString().slice(0, 10);
    expect(await usageOf({ from: first, to: null })).toMatchObject({ from: first });
  });

  it.each([
    ['2026-02-04', null, 'after `to`'],
    ['2000-01-01', '2026-02-03', `at most ${LIMITS.usageDays}`],
  ])('refuses the days from %s to %s', async (from, to, message) => {
    await expect(usageOf({ from, to })).rejects.toMatchObject({
      code: 'bad_request',
      param: 'from',
      message: expect.stringContaining(message),
    });
  });
});
