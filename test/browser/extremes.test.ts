/**
 * Pages of an account with as much of everything as there can be, and with nothing at all, and those of operators of an
 * installation with as much: axe finds no fault, and no page scrolls sideways, with and without scripts.
 */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { resolveOptions } from '#crds/catalogue/options/options.ts';
import { fileLimits } from '#crds/catalogue/plans.ts';
import { OPERATOR_PAGES } from '#test/support/operator-pages.ts';
import { useService } from '#test/support/use-service.ts';
import { expectNoComplaints, followLink, inspect, visitor, type Size } from './browser.ts';

const { service, account, api } = await useService('growth');
const PAGES = [
  '',
  '/quick-start',
  '/playground',
  '/jobs',
  '/jobs?mode=test',
  '/uploads',
  '/keys',
  '/webhooks',
  '/presets',
  '/samples',
  '/usage',
  '/usage?from=2025-12-01&to=2026-11-30',
  '/plan',
  '/members',
  '/activity',
  '/receipts',
];
/** A name that no line can be broken in. */
const LONG = 'Quartalsbericht_'.repeat(15);
const LONG_URL = `https://hooks.example.com/${'tenant-with-a-long-name/'.repeat(12)}events?token=${'0'.repeat(300)}`;
const ERROR = `The file could not be fetched: ${LONG_URL} answered with status 503. `.repeat(3);
const owner = await visitor();
const { baseUrl } = inject('service');

beforeAll(async () => {
  const { link } = await service.mediactl(
    'user',
    'invite',
    '--email',
    `${'owner'.repeat(12)}@example.com`,
    '--account',
    account,
  );
  await followLink(owner, String(link), 'nobody guesses this one');
});

let filled: Promise<void> | null = null;
const fillOnce = (): Promise<void> => (filled ??= fill());

async function fill(): Promise<void> {
  const rows = (sql: string, ...values: unknown[]): Promise<unknown> => service.query(sql, [account, ...values]);
  await rows('update accounts set name = $2, unpaid_invoice = true where id = $1', `${LONG}${LONG}`.slice(0, 200));
  await rows(
    `insert into jobs (id, account_id, livemode, operation, status, percent, created_at, started_at, completed_at, input_key,
       input_stored, input_filename, input_size, options, limits, features, retention_seconds, metadata, error)
     select 'job_extreme' || lpad(n::text, 13, '0'), $1, true, 'strip_metadata', state, 42, now() - n * interval '1 hour',
       now() - n * interval '1 hour', case when state in ('failed', 'canceled') then now() end, '', true,
       case when n % 3 = 0 then null else $2 end, 5368709120, $5, $6, '{}', 3600, $3,
       case when state in ('failed', 'canceled') then $4::json end
     from (select n, (array['queued', 'processing', 'failed', 'canceled'])[1 + n % 4] as state from generate_series(1, 60) n) as made`,
    `${LONG}.pdf`,
    JSON.stringify(
      Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`${n}-${'key'.repeat(12)}`, LONG.repeat(2)])),
    ),
    JSON.stringify({ code: 'output_upload_failed', message: ERROR, type: 'invalid_request_error' }),
    JSON.stringify(resolveOptions(new Map())),
    JSON.stringify(fileLimits('growth')),
  );
  await rows(
    `insert into ledger (source_id, account_id, livemode, day, operation, kind, meter, quantity, amount_micro_usd, input_bytes, output_bytes, at)
     select id, account_id, true, current_date, operation, 'pdf', 'unbilled', 0, 0, 0, 0, now() from jobs
     where account_id = $1 and completed_at is not null`,
  );
  await rows(
    `insert into webhook_endpoints (id, account_id, url, secret, created_at)
     select 'whk_extreme' || lpad(n::text, 13, '0'), $1, $2, '', now() from generate_series(1, 9) n`,
    LONG_URL,
  );
  await rows(
    `insert into webhook_deliveries (id, account_id, job_id, endpoint_id, url, shown_url, secret, body, attempt, next_at,
       created_at, done_at, delivered, last_status, last_error)
     select 'evt_extreme' || lpad(n::text, 13, '0'), $1, 'job_extreme' || lpad(n::text, 13, '0'), 'whk_extreme0000000000001', $2, $2,
       '', '{"type":"job.failed"}', 8, now() + interval '1 day', now(), case when n % 2 = 0 then now() end,
       case when n % 2 = 0 then false end, null, $3
     from generate_series(1, 40) n`,
    LONG_URL,
    ERROR,
  );
  await rows(
    `insert into webhook_attempts (event_id, at, status, error, duration_ms)
     select 'evt_extreme0000000000002', now() - n * interval '1 hour', null, $2, 10000 from generate_series(1, 8) n where $1 <> ''`,
    ERROR,
  );
  await rows(
    `insert into api_keys (id, account_id, livemode, name, digest, hint, allow_list, created_at, exposed_at)
     select 'key_extreme' || n, $1, true, $2, sha256(($1 || n)::bytea), 'svc_live_…0000',
       array(select '2001:db8:85a3::8a2e:370:' || m || '/128' from generate_series(1000, 1019) m), now(), now()
     from generate_series(1, 15) n`,
    LONG.slice(0, 60),
  );
  await rows(
    `insert into presets (id, account_id, name, options, created_at, updated_at)
     select 'pre_extreme' || n, $1, left(n || '-' || $2, 63), '{"image": {"format": "webp", "quality": 70, "resize": {"mode": "fit", "width": 800}}}',
       now(), now() from generate_series(1, 30) n`,
    LONG.toLowerCase(),
  );
  await rows(
    `insert into uploads (id, account_id, livemode, size, filename, multipart, created_at, expires_at)
     select 'upl_extreme' || lpad(n::text, 13, '0'), $1, true, 5368709120, $2, true, now(), now() + interval '1 day'
     from generate_series(1, 30) n`,
    `${LONG}.mov`,
  );
  await rows(
    `insert into usage_days (account_id, livemode, day, meter, requests, quantity, amount_micro_usd, input_bytes, output_bytes)
     select $1, true, current_date - n, meter, 1234567, 1234567, 1234567890000, 1e15, 5e14 from generate_series(0, 364) as n,
       unnest(array['images', 'pdfs', 'documents', 'audio_minutes', 'video_units', 'files', 'unbilled']) as meter
     on conflict do nothing`,
  );
  await rows(
    `insert into audit_log (at, email, address, account_id, action, target)
     select now(), $2, '2001:db8:85a3:1234:5678:8a2e:370:7334', $1, action, $3
     from generate_series(1, 10), unnest(array['preset.save', 'member.invite', 'webhook.create', 'an.unknown_action']) as action`,
    `${'owner'.repeat(12)}@example.com`,
    LONG_URL,
  );
  for (const n of [1, 2])
    await service.mediactl('user', 'invite', '--email', `${'guest'.repeat(12)}${n}@example.com`, '--account', account);
  await api('POST', '/v1/webhook_endpoints', { json: { url: 'https://hooks.example.com/media' } });
}

type VisitorSettings = readonly [size: Size, colorScheme: 'dark' | 'light', javaScriptEnabled: boolean];
const VISITORS: readonly VisitorSettings[] = [
  ['desktop', 'light', true],
  ['phone', 'dark', true],
  ['phone', 'light', false],
];

/** Opens each page in the session of the visitor, and expects no fault on it. */
async function inspectAll(
  who: typeof owner,
  { paths, title }: { readonly paths: readonly string[]; readonly title: string },
  [size, colorScheme, javaScriptEnabled]: VisitorSettings,
): Promise<void> {
  const { page, context } = await visitor(size, { colorScheme, javaScriptEnabled });
  await context.addCookies((await who.context.storageState()).cookies);
  for (const path of paths) {
    const response = await page.goto(`${baseUrl}/dashboard${path}`);
    const below = path.replace(`/accounts/${account}`, '').replaceAll(/[/?=&]+/g, '-');
    const name = `extremes-${title}-${size}${below.slice(0, 60)}`;
    expect(response?.status(), name).toBe(200);
    // Without scripts axe does not run.
    if (javaScriptEnabled) await inspect(page, name);
    else {
      const box = await page.locator('main').boundingBox();
      expect((box?.x ?? 0) + (box?.width ?? 0), name).toBeLessThanOrEqual(390);
    }
  }
  expectNoComplaints();
}

describe.each([
  ['nothing', async () => undefined],
  ['as much as there can be', fillOnce],
])('an account with %s', (what, prepare) => {
  beforeAll(prepare);

  it.each(VISITORS)(
    'has pages without faults on a %s in %s colors, with scripts: %s',
    async (...settings) => {
      const full =
        what === 'nothing'
          ? []
          : [
              '/jobs/job_extreme0000000000002',
              '/jobs/job_extreme0000000000001',
              '/deliveries/evt_extreme0000000000002',
              '/webhooks/whk_extreme0000000000001',
            ];
      const paths = [...PAGES, ...full].map((below) => `/accounts/${account}${below}`);
      await inspectAll(owner, { paths, title: String(full.length) }, settings);
    },
    120_000,
  );
});

const PAGES_OF_OPERATORS = [
  ...OPERATOR_PAGES,
  '/accounts?page=40',
  `/accounts?search=${LONG}`,
  `/accounts/${account}`,
  '/jobs?code=output_upload_failed',
  '/jobs?state=unfinished',
  `/jobs?code=${LONG}`,
];
/** The largest integer of the database that pages can show; sums of decimals may have more digits. */
const LARGEST = Number.MAX_SAFE_INTEGER;
const LONGEST_SUM = `1${'0'.repeat(29)}`;

/** Adds accounts by the thousand, the largest sums, and everything that has no upper limit to its length. */
async function fillInstallation(): Promise<void> {
  const rows = (sql: string, ...values: unknown[]): Promise<unknown> => service.query(sql, values);
  await rows(
    `insert into accounts (id, name, plan, unpaid_invoice, suspended, created_at)
     select 'acc_extreme' || lpad(n::text, 13, '0'), left(n || $1, 100), 'enterprise', n % 3 = 0, n % 5 = 0,
       now() - n * interval '1 minute' from generate_series(1, 3000) n`,
    LONG.repeat(2),
  );
  await rows(
    `insert into monthly_spend (account_id, month, amount_micro_usd)
     select id, date_trunc('month', now() at time zone 'utc')::date, $1 from accounts where id like 'acc_extreme%' or id = $2
     on conflict (account_id, month) do update set amount_micro_usd = excluded.amount_micro_usd`,
    LARGEST,
    account,
  );
  await rows(
    `update usage_days set quantity = $2 where account_id = $1 and meter = 'video_units'`,
    account,
    LONGEST_SUM,
  );
  await rows(
    `update jobs set report = json_build_object('image', $2::text, 'tools', json_build_object($3::text, $4::text)),
       error = json_build_object('code', $3::text, 'message', 'm', 'type', 'processing_error')
     where account_id = $1 and status = 'failed' and id > 'job_extreme0000000000030'`,
    account,
    `registry.example.com/${LONG}@sha256:${'0'.repeat(64)}`,
    LONG,
    `1.2.3-${LONG}`,
  );
  await rows(
    `insert into audit_log (at, email, address, account_id, action, target)
     select now(), 'mediactl', '', $1, $2, $3 from generate_series(1, 10)`,
    account,
    LONG,
    LONG_URL,
  );
}

describe('an installation with as much as there can be', () => {
  const somebody = visitor();
  beforeAll(async () => {
    await fillOnce();
    await fillInstallation();
    const { link } = await service.mediactl('user', 'invite', '--email', 'extremes@example.com', '--operator');
    await followLink(await somebody, String(link), 'nobody guesses this one');
  });
  afterAll(async () => {
    await service.query(`delete from monthly_spend where account_id like 'acc_extreme%'`);
    await service.query(`delete from accounts where id like 'acc_extreme%'`);
  });

  it.each(VISITORS)(
    'has pages of operators without faults on a %s in %s colors, with scripts: %s',
    async (...settings) => {
      const usage = `/accounts/${account}/usage`;
      const paths = [...PAGES_OF_OPERATORS.map((below) => `/operator${below}`), `/accounts/${account}`, usage];
      await inspectAll(await somebody, { paths, title: 'operator' }, settings);
    },
    120_000,
  );
});
