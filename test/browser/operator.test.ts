import { describe, expect, it } from 'vitest';
import { OPERATOR_PAGES } from '#test/support/operator-pages.ts';
import { useService } from '#test/support/use-service.ts';
import { documented, expectNoComplaints, followLink, inspect, visitor } from './browser.ts';

const { service, account, api, makeAccount } = await useService('payg');

async function operator(email: string) {
  const { link } = await service.mediactl('user', 'invite', '--email', email, '--operator');
  const somebody = await visitor();
  await followLink(somebody, String(link), 'nobody guesses this one');
  return somebody;
}

describe('an operator', () => {
  it('makes an account of its own and a key that works, in one session', async () => {
    const { page } = await operator('only@example.com');
    await page.getByRole('link', { name: 'Accounts', exact: true }).click();
    await page.getByLabel('Name', { exact: true }).fill('Own');
    await page.getByLabel('Plan').selectOption('payg');
    await page.getByLabel('I am its owner').check();
    await page.getByLabel('It has a payment method').check();
    await page.getByRole('button', { name: 'Create the account' }).click();
    await page.getByRole('heading', { name: 'Own', level: 1 }).waitFor();
    await inspect(page, 'own-account');
    await page.getByRole('link', { name: 'Create a key' }).click();
    await page.getByLabel('Name').fill('first');
    await page.getByLabel('Mode').selectOption('live');
    await page.getByRole('button', { name: 'Create the key' }).click();
    const key = await page.locator('#secret').innerText();
    expect((await api('GET', '/v1/presets', { key })).status).toBe(200);
    expectNoComplaints();
  });

  it('makes an account with its owner, changes plan and features, suspends and reactivates it', async () => {
    const { page } = await operator('first@example.com');
    await page.getByRole('heading', { name: 'The installation' }).waitFor();
    await page.getByRole('link', { name: 'Accounts', exact: true }).click();
    await page.getByRole('heading', { name: 'Accounts' }).waitFor();
    await page.getByLabel('Name', { exact: true }).fill('Acme');
    await page.getByLabel('Plan').selectOption('payg');
    await page.getByLabel("Owner's e-mail").fill('no address');
    await page.getByLabel("Owner's e-mail").evaluate((field) => ((field as unknown as { type: string }).type = 'text'));
    await page.getByRole('button', { name: 'Create the account' }).click();
    await page.locator('#p-email').waitFor();
    await inspect(page, 'operator-accounts-refused');
    await page.getByLabel("Owner's e-mail").fill('boss@acme.example');
    await page.getByRole('button', { name: 'Create the account' }).click();
    const link = await page.locator('#secret').innerText();
    await inspect(page, 'operator-account');
    const boss = await visitor('phone');
    await followLink(boss, link, 'the boss has this one');
    await boss.page.getByRole('heading', { name: 'Acme' }).waitFor();
    await boss.page.getByRole('link', { name: 'Create a key' }).click();
    await boss.page.getByLabel('Name').fill('first');
    await boss.page.getByLabel('Mode').selectOption('live');
    await boss.page.getByRole('button', { name: 'Create the key' }).click();
    const key = await boss.page.locator('#secret').innerText();
    await inspect(boss.page, 'keys-created-phone');
    const code = async (): Promise<unknown> => (await api('GET', '/v1/presets', { key })).json()['error']?.code ?? null;
    expect(await code()).toBe('no_payment_method');

    await page.getByLabel('has a payment method').check();
    await page.getByLabel('Video').check();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The account is saved.').waitFor();
    expect(await page.getByLabel('Video').isChecked()).toBe(true);
    expect(await code()).toBe(null);
    await page.getByText('Suspend the account …').click();
    await page.getByRole('button', { name: 'Suspend the account', exact: true }).click();
    await page.getByText('The account is suspended.').waitFor();
    expect(await code()).toBe('account_suspended');
    await page.getByRole('button', { name: 'Reactivate the account' }).click();
    await page.getByText('The account is active again.').waitFor();
    expect(await code()).toBe(null);
    expectNoComplaints();
  });

  it('sees the work, its failures and engines, prices, dropped deliveries, and sends one again', async () => {
    const other = await makeAccount();
    await service.query(
      `insert into jobs (id, account_id, livemode, operation, status, created_at, completed_at, input_key, input_stored,
         input_filename, options, limits, features, retention_seconds, metadata, error)
       values ('job_operator0000000001', $1, true, 'compress', 'failed', now(), now(), '', true, 'a.pdf', '{}', '{}', '{}',
         3600, '{}', '{"code":"encrypted_pdf","message":"m","type":"processing_error"}')`,
      [other.account],
    );
    await service.query(
      `insert into ledger (source_id, account_id, livemode, day, operation, kind, meter, quantity, amount_micro_usd, input_bytes, output_bytes, at)
       values ('job_operator0000000001', $1, true, current_date, 'compress', 'pdf', 'unbilled', 0, 0, 0, 0, now())`,
      [other.account],
    );
    await service.query(
      `insert into webhook_deliveries (id, account_id, job_id, url, secret, body, attempt, next_at, created_at, done_at, delivered, last_status)
       values ('evt_operator0000000001', $1, 'job_operator0000000001', 'https://hooks.example.com/', '', '{}', 8,
         now() + interval '1 hour', now(), now(), false, 503)`,
      [account],
    );
    const { page, open, context } = await operator('second@example.com');
    const pages = [...OPERATOR_PAGES, '/jobs?state=unfinished'];
    for (const below of pages) {
      await open(`/operator${below}`);
      await inspect(page, `operator${below.replaceAll(/[/?=]/g, '-')}`);
    }
    await open('/operator');
    const failed = page.locator('.figures > div').filter({ hasText: 'Failed in 24 hours' });
    expect(Number(await failed.locator('.figure').innerText())).toBeGreaterThan(0);
    await open('/operator/failures');
    await page.getByRole('link', { name: 'encrypted_pdf' }).waitFor();
    await page.getByRole('row', { name: 'encrypted_pdf' }).getByRole('link').nth(1).click();
    await page.getByRole('link', { name: 'job_operator0000000001' }).click();
    await page.getByRole('link', { name: 'What encrypted_pdf means' }).waitFor();
    await inspect(page, 'operator-job');
    await open('/operator/queue');
    expect(await page.getByRole('link', { name: 'Metrics in Grafana' }).getAttribute('href')).toContain(
      'grafana.example.com',
    );
    await documented(page, 'queue');
    await open('/operator/deliveries');
    await page.getByRole('row', { name: 'evt_operator0000000001' }).getByRole('button', { name: 'Send again' }).click();
    await page.getByText('is queued again').waitFor();

    await open(`/operator/accounts?search=${account}`);
    expect(await page.locator('tbody tr').count()).toBe(1);
    await page.setViewportSize({ width: 390, height: 844 });
    for (const below of pages) {
      await open(`/operator${below}`);
      await inspect(page, `operator${below.replaceAll(/[/?=]/g, '-')}-phone`);
    }
    await context.clearCookies();
    await open('/operator');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expectNoComplaints();
  });
});
