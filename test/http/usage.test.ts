import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { expectRefusal } from '#test/support/expect-refusal.ts';
import { runJob } from '#test/support/run-through.ts';
import { useService, type TestAccount } from '#test/support/use-service.ts';

const { service, api, makeAccount } = await useService();

const usage = (key: string, query = '') => api('GET', `/v1/usage${query}`, { key });
const today = (): string => new Date().toISOString().slice(0, 10);
const CSV = Buffer.from('id,name\n1,Ada\n');

interface Work {
  readonly day: string;
  readonly meter: string;
  readonly quantity: number;
  readonly microUsd: number;
}

/** Inserts ledger rows as of finished work, with 1000 bytes of input and 400 of output. */
async function record({ account }: TestAccount, work: readonly Work[]): Promise<void> {
  for (const { day, meter, quantity, microUsd } of work) {
    await service.query(
      `insert into ledger values ('req_' || gen_random_uuid(), $1, true, $2, 'compress', 'image', $3, $4, $5, 1000, 400, $2::date)`,
      [account, day, meter, quantity, microUsd],
    );
  }
}

describe('usage', () => {
  // Promise, Presets, estimate, usage: Usage: UTC days with both ends, 366 at most, modes separate, only days with requests
  it('is empty before the first request', async () => {
    const account = await makeAccount();
    const counts = { requests: 0, amount_usd: 0, input_bytes: 0, output_bytes: 0, meters: {} };
    const body = (await usage(account.live)).json();
    expect(body).toStrictEqual({
      object: 'usage',
      livemode: true,
      from: `${today().slice(0, 7)}-01`,
      to: today(),
      totals: counts,
      daily: [],
    });
  });

  // Promise, Conventions and objects: Usage object and meters
  it('counts succeeded and failed direct requests and jobs, by meter', async () => {
    const account = await makeAccount();
    const asAccount: typeof api = Object.assign(
      (method: string, path: string, sending = {}) => api(method, path, { key: account.live, ...sending }),
      { close: api.close },
    );
    const direct = await asAccount('POST', '/v1/convert?to=json&filename=a.csv', { body: CSV });
    expect(direct.status).toBe(200);
    expect((await asAccount('POST', '/v1/compress?filename=a.jpg', { body: 'no picture' })).status).toBe(415);
    const job = await runJob(
      asAccount,
      { bytes: CSV, filename: 'a.csv' },
      { operation: 'convert', options: { convert: { to: 'json' } } },
    );
    const bytes = {
      input_bytes: 2 * CSV.length + 10,
      output_bytes: direct.bytes.length + Number(job['result'].output_size),
    };
    const { totals, daily } = (await usage(account.live)).json();
    expect(totals).toStrictEqual({
      requests: 3,
      amount_usd: 0.002,
      ...bytes,
      meters: {
        files: { requests: 2, quantity: 2, amount_usd: 0.002 },
        unbilled: { requests: 1, quantity: 0, amount_usd: 0 },
      },
    });
    expect(daily).toStrictEqual([{ day: today(), ...totals }]);
  });

  // Promise, Presets, estimate, usage: Usage: UTC days with both ends, 366 at most, modes separate, only days with requests
  it('of the two modes is separate, and all test work is unbilled', async () => {
    const account = await makeAccount();
    const sample = readFileSync(new URL('../../api/data/samples/people.csv', import.meta.url));
    const response = await api('POST', '/v1/convert?to=json&filename=people.csv', {
      key: account.test,
      body: sample,
      headers: { 'content-length': String(sample.length) },
    });
    expect(response.status).toBe(200);
    const ofTest = (await usage(account.test)).json();
    expect(ofTest['livemode']).toBe(false);
    expect(ofTest['totals']).toMatchObject({
      requests: 1,
      amount_usd: 0,
      input_bytes: sample.length,
      meters: { unbilled: { requests: 1, quantity: 0, amount_usd: 0 } },
    });
    expect(Object.keys(ofTest['totals'].meters)).toStrictEqual(['unbilled']);
    expect((await usage(account.live)).json()['totals'].requests).toBe(0);
  });

  // Promise, Conventions and objects: Usage object and meters
  it('sums exactly, by days with both ends included, oldest first', async () => {
    const account = await makeAccount();
    await record(account, [
      { day: '2024-02-28', meter: 'images', quantity: 1, microUsd: 2000 },
      { day: '2024-03-02', meter: 'video_units', quantity: 10.5, microUsd: 10_500 },
      { day: '2024-02-29', meter: 'images', quantity: 1, microUsd: 500 },
      { day: '2024-02-29', meter: 'images', quantity: 1, microUsd: 500 },
      { day: '2024-02-29', meter: 'unbilled', quantity: 0, microUsd: 0 },
      { day: '2024-03-03', meter: 'images', quantity: 1, microUsd: 500 },
    ]);
    const body = (await usage(account.live, '?from=2024-02-29&to=2024-03-02')).json();
    expect(body).toMatchObject({ from: '2024-02-29', to: '2024-03-02' });
    expect(body['totals']).toStrictEqual({
      requests: 4,
      amount_usd: 0.0115,
      input_bytes: 4000,
      output_bytes: 1600,
      meters: {
        images: { requests: 2, quantity: 2, amount_usd: 0.001 },
        video_units: { requests: 1, quantity: 10.5, amount_usd: 0.0105 },
        unbilled: { requests: 1, quantity: 0, amount_usd: 0 },
      },
    });
    expect(body['daily'].map(({ day, requests }: { day: string; requests: number }) => [day, requests])).toStrictEqual([
      ['2024-02-29', 3],
      ['2024-03-02', 1],
    ]);
  });

  // Promise, Presets, estimate, usage: Usage: UTC days with both ends, 366 at most, modes separate, only days with requests
  it('accepts 366 days', async () => {
    const account = await makeAccount();
    expect((await usage(account.live, '?from=2024-01-01&to=2024-12-31')).status).toBe(200);
    expect((await usage(account.live, '?from=2023-01-01&to=2024-01-01')).status).toBe(200);
    expectRefusal(await usage(account.live, '?from=2023-01-01&to=2024-01-02'), 'bad_request', { param: 'from' });
  });

  // Promise, Bad input, case by case: Dates of usage
  // Promise, Presets, estimate, usage: Usage: UTC days with both ends, 366 at most, modes separate, only days with requests
  it.each([
    ['?from=2026-02-30', 'from'],
    ['?from=2026-2-3', 'from'],
    ['?from=0000-01-01&to=0000-01-02', 'from'],
    ['?to=today', 'to'],
    ['?to=', 'to'],
    ['?from=2024-01-02&to=2024-01-01', 'from'],
    ['?from=9999-01-01', 'from'],
    ['?to=2020-01-01', 'from'],
    ['?since=2024-01-01', 'since'],
    ['?to=2024-01-01&to=2024-01-02', 'to'],
  ])('refuses %s', async (query, param) => {
    const account = await makeAccount();
    expectRefusal(await usage(account.live, query), 'bad_request', { param });
  });

  it('requires a key', async () => {
    expectRefusal(await api('GET', '/v1/usage', { key: null }), 'missing_key');
  });
});
