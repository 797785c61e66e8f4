import { beforeEach, describe, expect, it } from 'vitest';
import { finishJob } from '#api/jobs/finish-job.ts';
import { claimWaitingPings } from '#api/webhooks/run-pings.ts';
import { sealPlainUrls } from '#api/webhooks/seal-plain-urls.ts';
import { openUrl, urlContext } from '#api/webhooks/stored-url.ts';
import { findWebhookEndpoint } from '#api/webhooks/webhook-endpoint-rows.ts';
import { newId } from '#crds/contract/ids.ts';
import { buildJob, readJob } from '#test/support/job-builder.ts';
import { startReceiver } from '#test/support/receiver.ts';
import { START, webhookSender } from '#test/support/webhook-sender.ts';

const HOUR_MS = 3_600_000;
const sender = await webhookSender();
const { database, deps } = sender;

// The upgrade was an hour ago.
beforeEach(async () => {
  await database.query('truncate webhook_pings');
  await database.query('update plain_urls_end set at = $1', [new Date(START + 23 * HOUR_MS)]);
});

const plainUrls = async (): Promise<unknown[]> => {
  const { rows } = await database.query<{ url: string }>(
    `select url from webhook_endpoints where url is not null union all
     select url from webhook_deliveries where url is not null union all
     select url from webhook_pings where url is not null union all
     select webhook_url from jobs where webhook_url is not null`,
  );
  return rows.map(({ url }) => url);
};

/** Inserts rows with plain URLs as the previous version does, one in each table. */
async function writeOldRows(url: string): Promise<{ endpointId: string; jobId: string }> {
  const { id: endpointId } = await sender.register(url);
  await database.query('update webhook_endpoints set url = $1, sealed_url = null, shown_url = null', [url]);
  const job = await buildJob(database, sender.accountId);
  await database.query('update jobs set webhook_url = $1 where id = $2', [url, job.id]);
  const eventId = newId('event');
  const sealedSecret = deps.secretBox.seal('secret', `webhook-delivery:${eventId}`);
  await database.query(
    `insert into webhook_deliveries (id, account_id, job_id, url, secret, body, next_at, created_at)
     values ($1, $2, $3, $4, $5, '{}', $6, $6)`,
    [eventId, sender.accountId, newId('job'), url, sealedSecret, new Date(START)],
  );
  await database.query(
    `insert into webhook_pings (id, account_id, url, secret, livemode, created_at) values ($1, $2, $3, '', true, $4)`,
    [newId('event'), sender.accountId, url, new Date(START + 24 * HOUR_MS)],
  );
  return { endpointId, jobId: job.id };
}

describe('the encryption of URLs that an older version stored', () => {
  it('keeps plain URLs for a day, because processes of the previous version still read them', async () => {
    await writeOldRows('https://hooks.test/T0ken');
    await sender.register('https://hooks.test/N3w');
    await sealPlainUrls(deps);
    expect((await plainUrls()).toSorted()).toEqual([
      'https://hooks.test/N3w',
      ...Array.from({ length: 4 }, () => 'https://hooks.test/T0ken'),
    ]);
  });

  it('replaces plain URLs after a day without an effect on endpoints, pings, jobs and deliveries', async () => {
    const receiver = await startReceiver();
    const url = `${receiver.url}/T0ken`;
    const { endpointId, jobId } = await writeOldRows(url);
    sender.time = START + 24 * HOUR_MS;
    await Promise.all([sealPlainUrls(deps), sealPlainUrls(deps)]);
    await sealPlainUrls(deps);
    expect(await plainUrls()).toEqual([]);

    const endpoint = await findWebhookEndpoint(database, { accountId: sender.accountId, id: endpointId });
    expect(endpoint).toMatchObject({ plainUrl: null, shownUrl: `${receiver.url}/T0…` });
    expect(endpoint !== null && openUrl(deps.secretBox, endpoint, urlContext.endpoint(endpointId))).toBe(url);
    const [ping] = await claimWaitingPings(deps, 10);
    expect(ping !== undefined && openUrl(deps.secretBox, ping, urlContext.ping(ping.eventId))).toBe(url);
    await finishJob({ ...deps, newId, baseUrl: 'https://media.test', linkKeys: [] }, jobId, { kind: 'canceled' });
    expect(await readJob(database, jobId)).toMatchObject({ status: 'canceled', plainWebhookUrl: null });
    await sender.deliverDue();
    // The old delivery, and the event of the job: its webhook_url is the URL of the endpoint.
    expect(receiver.received.map(({ path }) => path)).toEqual(['/T0ken', '/T0ken']);
  });

  it('stores no new plain URL after a day', async () => {
    sender.time = START + 24 * HOUR_MS;
    await sender.register('https://hooks.test/T0ken');
    await sender.finishJob('https://hooks.test/0ther');
    expect(await plainUrls()).toEqual([]);
  });
});
