import { beforeEach, describe, expect, it } from 'vitest';
import { forgetOldRecords } from '#api/jobs/clean-up.ts';
import { insertPing, takePings, endPing } from '#api/webhooks/webhook-ping-rows.ts';
import { newId } from '#crds/ids.ts';
import { buildJob } from '#test/support/job-builder.ts';
import { START, webhookSender } from '#test/support/webhook-sender.ts';

const DAY_MS = 24 * 3600 * 1000;
const sender = await webhookSender();
const { database } = sender;
const deps = { ...sender.deps, newId, baseUrl: 'https://media.test', linkKeys: [] };
beforeEach(() => database.query('truncate transfers, webhook_pings'));

/** Ids of what is kept, of each kind. */
async function kept(): Promise<{ deliveries: number; transfers: number; pings: number }> {
  const { rows } = await database.query<{ deliveries: number; transfers: number; pings: number }>(
    `select (select count(*) from webhook_deliveries) as deliveries, (select count(*) from transfers) as transfers,
       (select count(*) from webhook_pings) as pings`,
  );
  return rows[0] as { deliveries: number; transfers: number; pings: number };
}

describe('forgetOldRecords', () => {
  it('forgets deliveries, transfers and pings 30 days after their end', async () => {
    const at = new Date(START);
    await sender.register('https://127.0.0.1:1/');
    await sender.finishJob();
    await database.query('update webhook_deliveries set done_at = $1, delivered = true', [at]);
    const job = await buildJob(database, sender.accountId);
    await database.query(`insert into transfers (job_id, direction, next_at, done_at) values ($1, 'fetch', $2, $2)`, [
      job.id,
      at,
    ]);
    const ping = {
      eventId: newId('event'),
      accountId: sender.accountId,
      url: 'https://x/',
      sealedSecret: Buffer.from('s'),
      livemode: true,
      createdAt: at,
    };
    await insertPing(database, ping, { most: 1, since: new Date(0) });
    await takePings(database, { now: at, since: new Date(0), limit: 1 });
    await endPing(database, { eventId: ping.eventId, at, delivered: true, status: 200, durationMs: 1 });
    sender.time = START + 30 * DAY_MS - 1;
    await forgetOldRecords(deps);
    expect(await kept()).toEqual({ deliveries: 1, transfers: 1, pings: 1 });
    sender.time += 1;
    await forgetOldRecords(deps);
    expect(await kept()).toEqual({ deliveries: 0, transfers: 0, pings: 0 });
  });

  it('keeps what has not ended, however old', async () => {
    await sender.register('https://127.0.0.1:1/');
    await sender.finishJob();
    const job = await buildJob(database, sender.accountId);
    await database.query(`insert into transfers (job_id, direction, next_at) values ($1, 'fetch', $2)`, [
      job.id,
      new Date(START),
    ]);
    sender.time = START + 400 * DAY_MS;
    await forgetOldRecords(deps);
    expect(await kept()).toEqual({ deliveries: 1, transfers: 1, pings: 0 });
  });

  it('forgets more than one statement takes', async () => {
    await database.query(
      `insert into webhook_deliveries (id, account_id, job_id, url, secret, body, next_at, created_at, done_at, delivered)
       select 'evt_' || n, $1, 'job_' || n, 'https://x/', '', '', $2, $2, $2, true from generate_series(1, 10001) as n`,
      [sender.accountId, new Date(START)],
    );
    sender.time = START + 30 * DAY_MS;
    await forgetOldRecords(deps);
    expect(await kept()).toMatchObject({ deliveries: 0 });
  });
});
