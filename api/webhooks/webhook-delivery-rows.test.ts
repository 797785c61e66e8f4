import { beforeEach, describe, expect, it } from 'vitest';
import { claimDeliveries } from '#api/webhooks/webhook-delivery-rows.ts';
import { newId } from '#crds/contract/ids.ts';
import { testDatabase } from '#test/support/database.ts';

const database = await testDatabase();
const CLAIM = {
  now: new Date(1000),
  leaseUntil: new Date(60_000),
  limit: 50,
  perHost: 4,
  perAccount: 8,
  attempts: 8,
};

interface Backlog {
  readonly accountId: string;
  readonly count: number;
  /** Host of all deliveries; absent: each has one of its own. */
  readonly host?: string;
  /** Time at which the first one is due, in milliseconds; each is due a microsecond after the one before. */
  readonly dueMs?: number;
}

async function newAccount(): Promise<string> {
  const id = newId('account');
  await database.query('insert into accounts (id, name, created_at) values ($1, $1, $2)', [id, new Date(0)]);
  return id;
}

/** Inserts deliveries with the ids `prefix1`, `prefix2`, … */
async function insert(prefix: string, { accountId, count, host, dueMs = 0 }: Backlog): Promise<void> {
  await database.query(
    `insert into webhook_deliveries (id, account_id, job_id, url, secret, body, next_at, created_at)
     select $1 || n, $2, $1 || n, 'https://' || coalesce($3, $1 || n || '.example') || '/hook', '', '',
       $4::timestamptz + n * interval '1 microsecond', $4 from generate_series(1, $5::int) as n`,
    [prefix, accountId, host ?? null, new Date(dueMs), count],
  );
}

async function claimedIds(claim: Partial<typeof CLAIM> = {}): Promise<string[]> {
  const claimed = await database.transaction((tx) => claimDeliveries(tx, { ...CLAIM, ...claim }));
  return claimed.map(({ eventId }) => eventId);
}

async function end(ids: readonly string[]): Promise<void> {
  await database.query('update webhook_deliveries set done_at = $2, delivered = true where id = any ($1)', [
    ids,
    new Date(1000),
  ]);
}

const numbered = (prefix: string, from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, index) => `${prefix}${from + index}`);
const sorted = (ids: readonly string[]): string[] => ids.toSorted();

beforeEach(() => database.query('truncate webhook_deliveries cascade'));

describe('claimDeliveries', () => {
  it('is fast when thousands of deliveries arrive after the last analyze', async () => {
    const accountId = await newAccount();
    await insert('done', { accountId, count: 300, host: 'a.example' });
    await end(numbered('done', 1, 300));
    await database.query('analyze webhook_deliveries');
    await insert('burst', { accountId, count: 10_000, host: 'a.example' });
    await insert('single', { accountId, count: 1, host: 'b.example' });
    const first = await claimedIds();
    expect(first).toHaveLength(CLAIM.perHost + 1);
    expect(first).toContain('single1');
    // The first host has reached its limit in flight.
    expect(await claimedIds()).toEqual([]);
  });

  it('leaves slots for other accounts when one account has thousands of receivers that do not respond', async () => {
    await insert('many', { accountId: await newAccount(), count: 5000 });
    await insert('few', { accountId: await newAccount(), count: 2, dueMs: 500 });
    expect(sorted(await claimedIds())).toEqual(sorted([...numbered('many', 1, 8), ...numbered('few', 1, 2)]));
    // The account with many has reached its limit in flight, whatever the process that asks.
    expect(await claimedIds()).toEqual([]);
    await end(['many2', 'many5', 'few1']);
    expect(sorted(await claimedIds())).toEqual(['many10', 'many9']);
  });

  it('gives the free slots of the process to accounts without a delivery in flight first', async () => {
    for (const prefix of ['a', 'b', 'c']) await insert(prefix, { accountId: await newAccount(), count: 100 });
    expect(await claimedIds({ limit: 12 })).toHaveLength(12);
    await insert('late', { accountId: await newAccount(), count: 3, dueMs: 500 });
    expect(await claimedIds({ limit: 1 })).toEqual(['late1']);
  });

  it('divides the slots of a host between the accounts that send to it', async () => {
    await insert('old', { accountId: await newAccount(), count: 1000, host: 'shared.example' });
    await insert('new', { accountId: await newAccount(), count: 3, host: 'shared.example', dueMs: 500 });
    expect(sorted(await claimedIds())).toEqual(['new1', 'new2', 'old1', 'old2']);
    await end(['old1']);
    expect(await claimedIds()).toEqual(['old3']);
    await end(['new1', 'new2']);
    expect(sorted(await claimedIds())).toEqual(['new3', 'old4']);
  });

  it('claims every account in time when more accounts than slots have older backlogs at a host', async () => {
    for (const prefix of ['a', 'b', 'c', 'd', 'e', 'f']) {
      await insert(prefix, { accountId: await newAccount(), count: 80, host: 'shared.example' });
    }
    await insert('late', { accountId: await newAccount(), count: 1, host: 'shared.example', dueMs: 500 });
    const claimed: string[] = [];
    // In each round four of the seven accounts are claimed. By age, the last account would be claimed in none.
    for (let round = 0; round < 20; round += 1) {
      const ids = await claimedIds({ now: new Date(1000 + round) });
      expect(ids).toHaveLength(CLAIM.perHost);
      claimed.push(...ids);
      await end(ids);
    }
    expect(claimed).toContain('late1');
  });

  it('claims the longest due deliveries of an account first', async () => {
    const accountId = await newAccount();
    await insert('second', { accountId, count: 6, dueMs: 500 });
    await insert('first', { accountId, count: 6 });
    expect(sorted(await claimedIds())).toEqual(sorted([...numbered('first', 1, 6), ...numbered('second', 1, 2)]));
  });

  it('does not count deliveries to a busy host against the share of their account', async () => {
    const accountId = await newAccount();
    await insert('busy', { accountId, count: 100, host: 'busy.example' });
    expect(sorted(await claimedIds())).toEqual(numbered('busy', 1, 4));
    await insert('other', { accountId, count: 10, dueMs: 500 });
    expect(sorted(await claimedIds())).toEqual(numbered('other', 1, 4));
  });

  it('counts deliveries in flight only until their lease has expired', async () => {
    await insert('many', { accountId: await newAccount(), count: 100 });
    expect(await claimedIds()).toHaveLength(8);
    const later = { now: new Date(60_000), leaseUntil: new Date(120_000) };
    expect(sorted(await claimedIds(later))).toEqual(numbered('many', 1, 8));
  });
});
