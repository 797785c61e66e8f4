/** Pages of the dashboard and the documentation beside stored images of them, at two widths and in two themes. */
import { readFileSync } from 'node:fs';
import { beforeAll, describe, inject, it } from 'vitest';
import { makeApiClient } from '#test/support/api-client.ts';
import { runJob } from '#test/support/run-through.ts';
import { useService } from '#test/support/use-service.ts';
import { expectNoComplaints, followLink, visitor } from './browser.ts';
import { compareScreenshot } from './compare-screenshot.ts';

const { service, account, api, test } = await useService('growth');
const { baseUrl } = inject('service');
const base = `/dashboard/accounts/${account}`;
const owner = await visitor();
/** A job of which the page shows the image before and after. */
let sampleJob = '';

beforeAll(async () => {
  const { link } = await service.mediactl('user', 'invite', '--email', 'owner@example.org', '--account', account);
  await followLink(owner, String(link), 'nobody guesses this one');
  await addJobs();
  await addUsage();
  const options = { image: { format: 'webp', quality: 70 } };
  await api('POST', '/v1/presets', { json: { name: 'web-photo', options } });
});

/** The job comes before the endpoint, to which its event would be sent. */
async function addOnce(): Promise<void> {
  if (sampleJob !== '') return;
  sampleJob = await processSample();
  await addDeliveries();
}

async function processSample(): Promise<string> {
  const withTestKey = makeApiClient(service, test);
  const photo = readFileSync('api/data/samples/photo.jpg');
  const options = { image: { format: 'webp' } };
  const job = await runJob(withTestKey, { bytes: photo, filename: 'photo.jpg' }, { operation: 'compress', options });
  await withTestKey.close();
  return String(job['id']);
}

/** Jobs of each status: name, status, size of file and result, code of the error. */
const JOBS = [
  ['holiday.jpg', 'succeeded', 866_530, 113_913, null],
  [
    'contract with a very long name, of which every word is needed, final version 3.pdf',
    'failed',
    81_920,
    null,
    'encrypted_pdf',
  ],
  ['interview.mp4', 'canceled', 209_715_200, null, 'canceled'],
  ['people.csv', 'succeeded', 27_722, 61_000, null],
] as const;

async function addJobs(): Promise<void> {
  for (const [index, [name, status, size, outputSize, code]] of JOBS.entries()) {
    const result = outputSize === null ? null : resultOf(name, size, outputSize);
    const error =
      code === null ? null : { code, message: 'The PDF needs a password to open.', type: 'processing_error' };
    await service.query(
      `insert into jobs (id, account_id, livemode, operation, status, percent, attempt, created_at, started_at, completed_at,
         input_key, input_stored, input_filename, input_size, options, limits, features, retention_seconds, metadata,
         output_key, result, error, billed, expires_at)
       values ($1, $2, true, $3, $4, 100, 1, now() - $5 * interval '1 second', now() - $5 * interval '1 second',
         now() - $5 * interval '1 second', '', true, $6, $7, '{}', '{}', '[]', 3600, '{"order": "1204"}', $8, $9, $10,
         $11, now() + interval '1 hour')`,
      [
        `job_screenshot000000000${index + 1}`,
        account,
        name.endsWith('csv') ? 'convert' : 'compress',
        status,
        index + 60,
        name,
        size,
        result === null ? null : 'none',
        result,
        error,
        status === 'succeeded',
      ],
    );
  }
}

function resultOf(name: string, size: number, outputSize: number): object {
  const isTable = name.endsWith('csv');
  return {
    kind: isTable ? 'table' : 'image',
    input_format: isTable ? 'csv' : 'jpg',
    output_format: isTable ? 'json' : 'jpg',
    original_size: size,
    output_size: outputSize,
    savings_percent: Math.round((1000 * (size - outputSize)) / size) / 10,
    kept_original: false,
    increased: outputSize > size,
    width: isTable ? null : 1920,
    height: isTable ? null : 1280,
    pages: null,
    duration_seconds: null,
    video_codec: null,
    warnings: [],
  };
}

/** Three weeks of usage, and a month whose spending has reached the cap of the other account. */
async function addUsage(): Promise<void> {
  await service.query(
    `insert into usage_days (account_id, livemode, day, meter, requests, quantity, amount_micro_usd, input_bytes, output_bytes)
     select $1, true, date '2026-10-01' + n, meter, 40 + 13 * (n % 7), 40 + 13 * (n % 7), 90000 * (1 + n % 5), 8e8, 3e8
     from generate_series(0, 20) as n, unnest(array['images', 'pdfs', 'video_units']) as meter`,
    [account],
  );
  await service.query(
    `insert into ledger (source_id, account_id, livemode, day, operation, kind, meter, quantity, amount_micro_usd, input_bytes, output_bytes, at)
     values ($1, $2, true, (now() at time zone 'utc')::date, 'compress', 'image', 'images', 1, 2000, 866530, 113913, now())`,
    ['job_screenshot0000000001', account],
  );
  await service.query(
    `insert into monthly_spend (account_id, month, amount_micro_usd) values ($1, date_trunc('month', now() at time zone 'utc')::date, 412340000)
     on conflict (account_id, month) do update set amount_micro_usd = excluded.amount_micro_usd`,
    [account],
  );
}

async function addDeliveries(): Promise<void> {
  const made = await api('POST', '/v1/webhook_endpoints', { json: { url: 'https://hooks.example.com/media' } });
  const states = [
    ['true', null, 204],
    ['null', 'the response has status 503', 503],
    ['false', 'the response has status 500', 500],
  ] as const;
  for (const [index, [delivered, error, status]] of states.entries()) {
    await service.query(
      `insert into webhook_deliveries (id, account_id, job_id, endpoint_id, url, shown_url, secret, body, attempt, next_at,
         lease_until, created_at, done_at, delivered, last_status, last_error)
       values ($1, $2, $3, $4, 'https://hooks.example.com/media', 'https://hooks.example.com/media', '',
         '{"type":"job.succeeded","data":{"job":{"id":"job_screenshot0000000001"}}}', 2, now() + interval '1 day', null,
         now() - $5 * interval '1 second', ${delivered === 'null' ? 'null' : 'now()'}, ${delivered}, $6, $7)`,
      [
        `evt_screenshot000000000${index + 1}`,
        account,
        `job_screenshot000000000${index + 1}`,
        String(made.json()['id']),
        index + 60,
        status,
        error,
      ],
    );
    await service.query(
      `insert into webhook_attempts (event_id, at, status, error, duration_ms)
       values ($1, now() - interval '70 seconds', 503, 'the response has status 503', 41), ($1, now() - $2 * interval '1 second', $3, $4, 12)`,
      [`evt_screenshot000000000${index + 1}`, index, status, error],
    );
  }
}

/** Pages by the name of their image. */
const pages = (): readonly (readonly [string, string])[] => [
  ['overview', base],
  ['jobs', `${base}/jobs`],
  ['job', `${base}/jobs/${sampleJob}`],
  ['keys', `${base}/keys`],
  ['webhooks', `${base}/webhooks`],
  ['delivery', `${base}/deliveries/evt_screenshot0000000003`],
  ['usage', `${base}/usage?from=2026-10-01&to=2026-10-21`],
  ['plan', `${base}/plan`],
  ['presets', `${base}/presets`],
  ['playground', `${base}/playground`],
  ['activity', `${base}/activity`],
  ['quick-start', `${base}/quick-start`],
  ['docs', '/docs'],
  ['docs-endpoints', '/docs/reference/endpoints/jobs'],
];

describe.each([
  ['desktop', 'light'],
  ['desktop', 'dark'],
  ['phone', 'light'],
  ['phone', 'dark'],
] as const)('on a %s in %s colors', (size, colorScheme) => {
  it('every page has the layout of its stored image', async () => {
    await addOnce();
    const { page, context } = await visitor(size, { colorScheme });
    await context.addCookies((await owner.context.storageState()).cookies);
    for (const [name, address] of pages()) {
      await page.goto(`${baseUrl}${address}`, { waitUntil: 'networkidle' });
      await compareScreenshot(page, `${name}-${size}-${colorScheme}`);
    }
    expectNoComplaints();
  });
});
