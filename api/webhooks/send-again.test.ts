import { beforeEach, describe, expect, it } from 'vitest';
import { MEDIACTL } from '#api/audit/audit.ts';
import { findDelivery, selectDeliveries, selectDeliveriesOfJob } from '#api/webhooks/delivery-record-rows.ts';
import { isFailing, selectEndpointHealth } from '#api/webhooks/endpoint-health-rows.ts';
import { resendDropped, sendDeliveryNow } from '#api/webhooks/send-again.ts';
import { newId } from '#crds/contract/ids.ts';
import { testDatabase } from '#test/support/database.ts';

const database = await testDatabase();
const now = new Date('2026-11-23T12:00:00Z');
const deps = { database, clock: { now: () => now } };
const accountId = newId('account');
await database.query('insert into accounts (id, name, created_at) values ($1, $1, $2)', [accountId, now]);

interface Row {
  readonly attempt?: number;
  readonly delivered?: boolean;
  readonly leaseUntil?: Date;
  /** null: the webhook_url of the job. */
  readonly endpoint?: string | null;
}

const later = new Date(now.getTime() + 3_600_000);

async function insert(id: string, { attempt = 1, delivered, leaseUntil, endpoint = 'whk_1' }: Row): Promise<void> {
  await database.query(
    `insert into webhook_deliveries (id, account_id, job_id, endpoint_id, url, secret, body, attempt, next_at, created_at,
       done_at, delivered, lease_until, last_error)
     values ($1, $2, $1, $3, 'https://a.example/', '', '', $4, $5, $6, $7, $8, $9, 'the response has status 500')`,
    [id, accountId, endpoint, attempt, later, now, delivered === undefined ? null : now, delivered, leaseUntil],
  );
}

const nextAt = async (id: string) => (await findDelivery(database, id))?.nextAt;

beforeEach(async () => {
  await database.query('delete from webhook_deliveries');
});

describe('sending a queued event now', () => {
  it('makes its next attempt due, which counts as one of its eight', async () => {
    await insert('evt_1', { attempt: 3 });
    await sendDeliveryNow(deps, { caller: MEDIACTL, input: { eventId: 'evt_1' } });
    expect(await findDelivery(database, 'evt_1')).toMatchObject({ attempt: 3, nextAt: now, doneAt: null });
  });

  it.each([
    ['is being sent', { leaseUntil: later }],
    ['was delivered', { delivered: true }],
  ])('is refused while it %s', async (_why, row) => {
    await insert('evt_1', row);
    const sent = sendDeliveryNow(deps, { caller: MEDIACTL, input: { eventId: 'evt_1' } });
    await expect(sent).rejects.toMatchObject({ code: 'bad_request', status: 409 });
    expect(await nextAt('evt_1')).toEqual(later);
  });
});

describe('sending all dropped events of an endpoint again', () => {
  it('queues these and no other, with all attempts', async () => {
    await insert('evt_1', { attempt: 8, delivered: false });
    await insert('evt_2', { attempt: 8, delivered: false });
    await insert('evt_3', { delivered: true });
    await insert('evt_4', { attempt: 8, delivered: false, endpoint: 'whk_2' });
    const input = { accountId, endpointId: 'whk_1' };
    expect(await resendDropped(deps, { caller: MEDIACTL, input })).toBe(2);
    expect(await findDelivery(database, 'evt_1')).toMatchObject({ attempt: 0, nextAt: now, delivered: null });
    expect(await findDelivery(database, 'evt_4')).toMatchObject({ attempt: 8, delivered: false });
    expect(await resendDropped(deps, { caller: MEDIACTL, input })).toBe(0);
  });
});

describe('a list of deliveries', () => {
  it('has one state, older ones than a given one, or those of a job', async () => {
    for (const [id, delivered] of Object.entries({ evt_1: true, evt_2: undefined, evt_3: false, evt_4: true }))
      await insert(id, delivered === undefined ? {} : { delivered });
    await insert('evt_0', { attempt: 0 });
    const idsOf = async (filter: object) =>
      (await selectDeliveries(database, { accountId, limit: 10, ...filter })).map(({ eventId }) => eventId);
    expect(await idsOf({})).toEqual(['evt_4', 'evt_3', 'evt_2', 'evt_1', 'evt_0']);
    expect(await idsOf({ state: 'delivered' })).toEqual(['evt_4', 'evt_1']);
    expect(await idsOf({ state: 'queued' })).toEqual(['evt_0']);
    expect(await idsOf({ state: 'retrying' })).toEqual(['evt_2']);
    expect(await idsOf({ state: 'dropped' })).toEqual(['evt_3']);
    expect(await idsOf({ before: 'evt_3' })).toEqual(['evt_2', 'evt_1', 'evt_0']);
    expect(await selectDeliveriesOfJob(database, { accountId, jobId: 'evt_2' })).toHaveLength(1);
  });
});

describe('the health of an endpoint', () => {
  it('counts outcomes, and is failing until an event is delivered after the last failure', async () => {
    await insert('evt_1', { delivered: false });
    await insert('evt_2', { attempt: 2 });
    const failure = new Date(now.getTime() + 1000);
    await database.query(
      `insert into webhook_attempts (event_id, at, status, error, duration_ms) values ('evt_2', $1, 500, 'refused', 5)`,
      [failure],
    );
    const read = async () => {
      const [health] = await selectEndpointHealth(database, { accountId, since: new Date(now.getTime() - 1000) });
      if (health === undefined) throw new Error('the endpoint has no health');
      return health;
    };
    const before = await read();
    expect(before).toMatchObject({
      endpointId: 'whk_1',
      delivered: 0,
      dropped: 1,
      retrying: 1,
      lastFailureAt: failure,
    });
    expect(isFailing(before)).toBe(true);
    await insert('evt_3', { delivered: true });
    await database.query('update webhook_deliveries set done_at = $1 where id = $2', [later, 'evt_3']);
    const after = await read();
    expect(after.delivered).toBe(1);
    expect(isFailing(after)).toBe(false);
  });

  it('is separate from that of the addresses that jobs name', async () => {
    await insert('evt_1', { delivered: true });
    await insert('evt_2', { attempt: 2, endpoint: null });
    await insert('evt_3', { delivered: false, endpoint: null });
    const health = await selectEndpointHealth(database, { accountId, since: new Date(now.getTime() - 1000) });
    expect(health.toSorted((one) => (one.endpointId === null ? 1 : -1))).toMatchObject([
      { endpointId: 'whk_1', delivered: 1, dropped: 0, retrying: 0 },
      { endpointId: null, delivered: 0, dropped: 1, retrying: 1 },
    ]);
  });
});
