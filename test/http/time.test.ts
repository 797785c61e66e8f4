/** Effects of hours, days and months over HTTPS, on a service whose clock the tests set. */
import { createHmac, randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { startOwnService } from '#test/crash/own-service.ts';
import type { ApiResponse } from '#test/support/api-client.ts';
import { expectRefusal } from '#test/support/expect-refusal.ts';
import { startReceiver } from '#test/support/receiver.ts';
import { runJob, upload } from '#test/support/run-through.ts';

const SECOND = 1;
const MINUTE = 60;
const HOUR = 3600;
const DAY = 24 * HOUR;
/** Longer than a process caches the time. */
const SEEN_MS = 60;

const folder = mkdtempSync(path.join(tmpdir(), 'mediajobs-clock-'));
// The service's processes run as users of their own.
chmodSync(folder, 0o755);
afterAll(() => rmSync(folder, { recursive: true }));
const file = path.join(folder, 'clock');
let ahead = 0;

async function pass(seconds: number): Promise<void> {
  ahead += seconds;
  writeFileSync(`${file}.new`, String(ahead));
  renameSync(`${file}.new`, file);
  await delay(SEEN_MS);
}
await pass(0);

const now = (): Date => new Date(Date.now() + ahead * 1000);
const secondsUntil = (time: string | Date): number => Math.ceil((new Date(time).getTime() - now().getTime()) / 1000);
const nextMonth = (): Date => new Date(Date.UTC(now().getUTCFullYear(), now().getUTCMonth() + 1, 1));

const service = await startOwnService({ MEDIAJOBS_CLOCK_FILE: file });
const api = service.api();
const csv = { bytes: Buffer.from('id,name\n1,Ada\n'), filename: 'a.csv' };
const toJson = { operation: 'convert', options: { convert: { to: 'json' } } };
const convert = (): Promise<ApiResponse> => api('POST', '/v1/convert?to=json&filename=a.csv', { body: csv.bytes });

/** Waits until no job is unfinished: moving the clock would lose a running attempt. */
async function allEnded(): Promise<void> {
  const unfinished = async (): Promise<unknown> =>
    (await service.query(`select 1 from jobs where status in ('queued', 'processing')`)).length;
  await expect.poll(unfinished, { timeout: 60_000 }).toBe(0);
}

describe('after the documented time', () => {
  // Promise, Jobs: Idempotency: the same response, conflict, in progress, 24 hours, 1 to 255 characters
  it('an Idempotency-Key has expired: it is kept for 24 hours', async () => {
    const headers = { 'idempotency-key': 'once' };
    const body = JSON.stringify({ ...toJson, input: { url: 'https://127.0.0.1:1/a.csv' } });
    const first = await api('POST', '/v1/jobs', { body, headers });
    expect(first.status).toBe(202);
    await api('DELETE', `/v1/jobs/${String(first.json()['id'])}`);
    await allEnded();
    await pass(DAY - MINUTE);
    const second = await api('POST', '/v1/jobs', { body, headers });
    expect(second.headers['svc-idempotent-replayed']).toBe('true');
    expect(second.json()['id']).toBe(first.json()['id']);
    await pass(MINUTE);
    const third = await api('POST', '/v1/jobs', { body, headers });
    expect([third.status, third.headers['svc-idempotent-replayed']]).toEqual([202, undefined]);
    expect(third.json()['id']).not.toBe(first.json()['id']);
    await api('DELETE', `/v1/jobs/${String(third.json()['id'])}`);
    await allEnded();
  });

  // Promise, Bad input, case by case: 24 hours
  // Promise, States: An unused upload is kept for 24 hours
  it('an unused upload is deleted: it is kept for 24 hours', async () => {
    const [used, unused] = [await upload(api, csv.bytes, 'a.csv'), await upload(api, csv.bytes, 'a.csv')];
    await pass(DAY - MINUTE);
    expect((await api('POST', '/v1/jobs', { json: { ...toJson, input: { upload: used } } })).status).toBe(202);
    await allEnded();
    await pass(MINUTE);
    expectRefusal(await api('POST', '/v1/jobs', { json: { ...toJson, input: { upload: unused } } }), 'not_found', {
      param: 'input.upload',
    });
    const again = await api('PUT', `/v1/uploads/${unused}/content`, { body: csv.bytes });
    expectRefusal(again, 'not_found');
  });

  // Promise, Bad input, case by case: 24 hours
  // Promise, Uploads: 24-hour allowance, used or not
  it('the upload allowance is available again: it covers the last 24 hours', async () => {
    await pass(DAY);
    const size = 5 * 1024 ** 3;
    const create = (): Promise<ApiResponse> => api('POST', '/v1/uploads', { json: { size } });
    for (let count = 0; count < 10; count += 1) expect((await create()).status).toBe(201);
    await pass(12 * HOUR);
    for (let count = 0; count < 10; count += 1) expect((await create()).status).toBe(201);
    const refused = await create();
    expectRefusal(refused, 'upload_allowance_reached');
    const wait = Number(refused.headers['retry-after']);
    expect(wait).toBeGreaterThan(6 * HOUR);
    expect(wait).toBeLessThanOrEqual(12 * HOUR);
    await pass(wait);
    expect((await create()).status).toBe(201);
    await pass(DAY);
  });

  // Promise, States: Files are deleted at `expires_at`, the record after 30 days
  it('files are deleted at `expires_at`, the record 30 days after the end', async () => {
    const job = await runJob(api, csv, toJson);
    const { id } = job;
    const link = String(job['result'].download_url);
    await pass(secondsUntil(job['expires_at']) - MINUTE);
    expect((await api('GET', link, { key: null })).status).toBe(200);
    await pass(MINUTE + SECOND);
    expectRefusal(await api('GET', link, { key: null }), 'invalid_signature');
    await expect
      .poll(async () => (await api('GET', `/v1/jobs/${id}`)).json()['files_deleted'], { timeout: 30_000 })
      .toBe(true);
    expectRefusal(await api('GET', `/v1/jobs/${id}/output`), 'not_found');

    const receipt = (await api('GET', `/v1/jobs/${id}/receipt`)).json();
    const end = new Date(job['completed_at']).getTime() + 30 * DAY * 1000;
    await pass(secondsUntil(new Date(end)) - MINUTE);
    expect((await api('GET', `/v1/jobs/${id}`)).json()).toMatchObject({ id, status: 'succeeded' });
    expect((await api('GET', `/v1/jobs/${id}/receipt`)).json()).toEqual(receipt);
    const listed = async (): Promise<boolean> =>
      ((await api('GET', '/v1/jobs?limit=100')).json()['data'] as { id: string }[]).some((one) => one.id === id);
    expect(await listed()).toBe(true);
    await pass(MINUTE);
    expectRefusal(await api('GET', `/v1/jobs/${id}`), 'not_found');
    expectRefusal(await api('GET', `/v1/jobs/${id}/receipt`), 'not_found');
    expectRefusal(await api('DELETE', `/v1/jobs/${id}`), 'not_found');
    expect(await listed()).toBe(false);
  });

  // Promise, Limits and versions: Spend cap: one request under it, running work at its maximum cost, reset by month
  it('usage and the spend cap start again with the UTC month', async () => {
    // Into a month without usage, whatever the day on which the tests run.
    await pass(secondsUntil(nextMonth()));
    await pass(secondsUntil(nextMonth()) - 5 * MINUTE);
    const { account_id: account } = (await service.query('select account_id from api_keys'))[0] as {
      account_id: string;
    };
    await service.query('update accounts set spend_cap_micro_usd = 1000 where id = $1', [account]);
    const monthOf = (day: Date): string => day.toISOString().slice(0, 7);
    const before = monthOf(now());
    expect((await convert()).status).toBe(200);
    expectRefusal(await convert(), 'spend_cap_reached');
    const refused = await api('POST', '/v1/jobs', { json: { ...toJson, input: { url: 'https://127.0.0.1:1/' } } });
    expectRefusal(refused, 'spend_cap_reached');
    const usage = (await api('GET', '/v1/usage')).json();
    expect(usage).toMatchObject({ from: `${before}-01`, to: now().toISOString().slice(0, 10) });
    expect(usage['totals'].meters.files).toEqual({ requests: 1, quantity: 1, amount_usd: 0.001 });

    await pass(secondsUntil(nextMonth()) + SECOND);
    const first = `${monthOf(now())}-01`;
    expect((await api('GET', '/v1/usage')).json()).toMatchObject({ from: first, to: first, daily: [] });
    expect((await convert()).status).toBe(200);
    expect((await api('GET', '/v1/usage')).json()).toMatchObject({
      totals: { requests: 1, amount_usd: 0.001 },
      daily: [{ day: first, requests: 1 }],
    });
    const lastMonth = (await api('GET', `/v1/usage?from=${before}-01&to=${first}`)).json();
    expect(lastMonth['totals'].meters.files).toEqual({ requests: 2, quantity: 2, amount_usd: 0.002 });
    await service.query('update accounts set spend_cap_micro_usd = null where id = $1', [account]);
  });

  // Promise, Events: Eight attempts on the schedule, the same bytes with a new signature each, then dropped
  it('a webhook is dropped, after eight attempts over 21 hours with a new signature each', async () => {
    const receiver = await startReceiver({ respond: (response) => response.writeHead(500).end() });
    const job = await runJob(api, csv, { ...toJson, webhook_url: `${receiver.url}/${randomBytes(4).toString('hex')}` });
    const { secret } = (await api('GET', '/v1/webhook_endpoints/signing_secret')).json();
    const arrived = async (count: number): Promise<void> => {
      await expect.poll(() => receiver.received.length, { timeout: 20_000 }).toBe(count);
    };
    const attemptsFailed = async (): Promise<unknown> => {
      const [row] = await service.query(
        'select attempt from webhook_deliveries where job_id = $1 and lease_until is null and last_status = 500',
        [job['id']],
      );
      return row?.['attempt'];
    };
    const failed = async (count: number): Promise<void> => {
      await expect.poll(attemptsFailed, { timeout: 20_000 }).toBe(count);
    };
    const waits = [10, MINUTE, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 6 * HOUR, 12 * HOUR];
    const sent: number[] = [];
    for (const [index, wait] of waits.entries()) {
      await arrived(index + 1);
      await failed(index + 1);
      sent.push(Math.floor(now().getTime() / 1000));
      // Not yet: the courier asks for due deliveries once a second.
      if (index === 3) {
        await pass(wait - MINUTE);
        await delay(1500);
        expect(receiver.received).toHaveLength(index + 1);
        await pass(MINUTE);
      } else await pass(wait);
    }
    await arrived(8);
    await failed(8);
    await pass(DAY);
    await delay(1500);
    expect(receiver.received).toHaveLength(8);
    const rows = await service.query('select delivered, attempt from webhook_deliveries where job_id = $1', [
      job['id'],
    ]);
    expect(rows).toEqual([{ delivered: false, attempt: 8 }]);

    const [first] = receiver.received;
    const times = receiver.received.map(({ headers, body }) => {
      expect(body).toEqual(first?.body);
      expect(headers['svc-event-id']).toBe(first?.headers['svc-event-id']);
      const [, time, signature] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['svc-signature'])) ?? [];
      expect(createHmac('sha256', String(secret)).update(`${time}.`).update(body).digest('hex')).toBe(signature);
      return Number(time);
    });
    for (const [index, wait] of waits.entries()) {
      expect(times[index + 1]! - times[index]!).toBeGreaterThanOrEqual(wait);
      expect(times[index + 1]! - times[index]!).toBeLessThan(wait + MINUTE);
    }
  });
});
