import { describe, expect, it } from 'vitest';
import { makeLink } from '#api/users/one-time-link.ts';
import { makeDashboardClient } from '#test/support/dashboard-client.ts';
import { startInProcessApi } from '#test/support/in-process-api.ts';
import { addPerson } from '#test/support/people.ts';

const MONEY = /\$\d|spend|price|billed|amount|payment/i;

/** Returns the pages of an installation that show money. */
async function pagesWithMoney(hidesPrices: boolean): Promise<readonly string[]> {
  const { deps, database, baseUrl, ca, accountId } = await startInProcessApi({ hidesPrices });
  const membership = { accountId, role: 'owner' } as const;
  const user = await addPerson({ ...deps, database }, { email: 'owner@example.com', membership, operator: true });
  const { path } = await makeLink(database, { userId: user.id, purpose: 'sign_in', at: new Date() });
  await database.query(
    `insert into usage_days (account_id, livemode, day, meter, requests, quantity, amount_micro_usd, input_bytes, output_bytes)
     values ($1, true, (now() at time zone 'utc')::date, 'images', 3, 3, 6000, 100, 50)`,
    [accountId],
  );
  const client = makeDashboardClient({ baseUrl, ca });
  expect((await client.post(path, {}, path)).status).toBe(303);
  const found: string[] = [];
  for (const page of PAGES) {
    const { status, text } = await client.get(page.replace('ACCOUNT', accountId));
    expect([page, status]).toEqual([page, 200]);
    if (MONEY.test(text)) found.push(page);
  }
  await client.close();
  return found;
}

const PAGES = [
  ...['', '/usage', '/usage.csv', '/plan', '/keys', '/playground'].map((below) => `/accounts/ACCOUNT${below}`),
  '/operator',
  '/operator/queue',
];

describe('an installation that hides prices', () => {
  it('shows no money where another one does', async () => {
    expect(await pagesWithMoney(false)).toEqual(PAGES);
    expect(await pagesWithMoney(true)).toEqual([]);
  });
});
