import { expect, it } from 'vitest';
import { claimDeliveries } from '#api/webhooks/webhook-delivery-rows.ts';
import { newId } from '#crds/contract/ids.ts';
import { testDatabase } from '#test/support/database.ts';

const database = await testDatabase();
const accountId = newId('account');
await database.query('insert into accounts (id, name, created_at) values ($1, $1, $2)', [accountId, new Date(0)]);

const CLAIM = { now: new Date(1000), leaseUntil: new Date(60_000), limit: 50, perHost: 10, attempts: 8 };

async function insert(prefix: string, { count, host, isDone }: { count: number; host: string; isDone: boolean }) {
  await database.query(
    `insert into webhook_deliveries (id, account_id, job_id, url, secret, body, next_at, created_at, done_at)
     select $1 || n, $2, $1 || n, $3, '', '', $4, $4, $5 from generate_series(1, $6::int) as n`,
    [prefix, accountId, `https://${host}/hook`, new Date(0), isDone ? new Date(0) : null, count],
  );
}

async function claimedIds(): Promise<string[]> {
  const claimed = await database.transaction((tx) => claimDeliveries(tx, CLAIM));
  return claimed.map(({ eventId }) => eventId);
}

it('claimDeliveries is fast when thousands of deliveries arrive after the last analyze', async () => {
  await insert('done', { count: 300, host: 'a.example', isDone: true });
  await database.query('analyze webhook_deliveries');
  await insert('burst', { count: 10_000, host: 'a.example', isDone: false });
  await insert('single', { count: 1, host: 'b.example', isDone: false });
  const first = await claimedIds();
  expect(first).toHaveLength(CLAIM.perHost + 1);
  expect(first).toContain('single1');
  // The first host has reached its limit in flight.
  expect(await claimedIds()).toEqual([]);
});
