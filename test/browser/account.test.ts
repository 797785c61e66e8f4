import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { drawVideo } from '#test/fixtures/make-media-fixtures.ts';
import { startReceiver } from '#test/support/receiver.ts';
import { finished, upload } from '#test/support/run-through.ts';
import { useService } from '#test/support/use-service.ts';
import { documented, expectNoComplaints, followLink, inspect, press, visitor } from './browser.ts';

const { service, account, api, test } = await useService('growth');
const base = `/accounts/${account}`;
/** Long enough that its percent is seen to move. */
const LONG_PICTURE = 'testsrc2=size=1280x720:rate=25:duration=12';
const owner = await visitor();
const { page, open } = owner;

beforeAll(async () => {
  const { link } = await service.mediactl('user', 'invite', '--email', 'owner@example.com', '--account', account);
  await followLink(owner, String(link), 'nobody guesses this one');
});

describe('keys', () => {
  it('made in the page works in the API at once, is copied, and stops when it is revoked', async () => {
    await open(`${base}/keys`);
    await page.getByLabel('Name').fill('build server');
    await page.getByLabel('Mode').selectOption('live');
    await page.getByLabel('Allowed addresses').fill('127.0.0.1\nnonsense');
    await page.getByRole('button', { name: 'Create the key' }).click();
    await page.getByText('nonsense').first().waitFor();
    await inspect(page, 'keys-refused');
    expect(await page.getByLabel('Name').inputValue()).toBe('build server');
    await page.getByLabel('Allowed addresses').fill('127.0.0.0/8');
    await page.getByRole('button', { name: 'Create the key' }).click();
    const key = await page.locator('#secret').innerText();
    await page.getByRole('button', { name: 'Copy' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(key);
    await inspect(page, 'keys-created');
    expect((await api('GET', '/v1/presets', { key })).status).toBe(200);
    expect(page.url()).not.toContain(key);
    await page.reload();
    expect(await page.content()).not.toContain(key);
    await documented(page, 'keys');

    await page.getByText('Revoke build server …').click();
    await inspect(page, 'keys-revoking');
    await page.getByRole('button', { name: 'Revoke permanently' }).first().click();
    await page.getByText('is revoked').waitFor();
    await expect
      .poll(async () => (await api('GET', '/v1/presets', { key })).status, { timeout: 30_000, interval: 500 })
      .toBe(401);
  });
});

describe('jobs', () => {
  it('shows the percent of a running video without a reload, its result and receipt, and cancels one', async () => {
    const video = await drawVideo(LONG_PICTURE);
    const id = await upload(api, video, 'holiday <b>2026</b>.mp4');
    const json = { operation: 'compress', input: { upload: id }, metadata: { album: 'Rome' } };
    const job = String((await api('POST', '/v1/jobs', { json })).json()['id']);
    await open(`${base}/jobs/${job}`);
    const percents = new Set<string>();
    await expect
      .poll(
        async () => {
          // Without waiting: on a busy machine a wait ends before the page has answered.
          for (const text of await page.locator('.percent').allTextContents()) percents.add(text);
          return page.getByRole('heading', { name: 'Receipt' }).isVisible();
        },
        { timeout: 300_000, interval: 100 },
      )
      .toBe(true);
    expect(percents.size, [...percents].join(', ')).toBeGreaterThan(1);
    await page.getByText('The signature is valid').waitFor();
    await inspect(page, 'job');
    await documented(page, 'job');
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download the receipt' }).click();
    const receipt = JSON.parse(readFileSync(await (await download).path(), 'utf8')) as { jws: string };
    await page.getByRole('link', { name: 'Check a receipt' }).click();
    await page.getByRole('textbox', { name: 'Receipt' }).fill(receipt.jws);
    await page.getByRole('button', { name: 'Check' }).click();
    await page.getByText('Valid: signed').waitFor();
    await inspect(page, 'receipt-checked');

    const second = await upload(api, video, 'second.mp4');
    const canceled = String(
      (await api('POST', '/v1/jobs', { json: { ...json, input: { upload: second } } })).json()['id'],
    );
    await open(`${base}/jobs`);
    await inspect(page, 'jobs');
    await page.getByRole('link', { name: canceled }).click();
    await page.getByText('Cancel the job …').click();
    await page.getByRole('button', { name: 'Cancel the job', exact: true }).click();
    await page.getByText('The job is canceled.').waitFor();
    expect((await api('GET', `/v1/jobs/${canceled}`)).json()).toMatchObject({ status: 'canceled' });
    await open(`${base}/jobs?status=canceled`);
    expect(await page.locator('tbody tr').count()).toBe(1);
    for (const [text, count] of [
      ['B>.MP4', 1],
      [canceled, 1],
      ['rome', 2],
      ['nowhere', 0],
    ] as const) {
      await open(`${base}/jobs`);
      await page.getByLabel('File name, id or metadata').fill(text);
      await press(page, 'Filter');
      expect(await page.locator('tbody tr').count(), text).toBe(count);
    }
    expectNoComplaints();
  }, 420_000);

  it('leads from a failed job to what its code means, and pages through many', async () => {
    const broken = await upload(api, Buffer.from('%PDF-1.7 nothing'), 'broken.pdf');
    const made = await api('POST', '/v1/jobs', { json: { operation: 'compress', input: { upload: broken } } });
    const job = await finished(api, String(made.json()['id']));
    expect(job['status']).toBe('failed');
    await open(`${base}/jobs/${String(job['id'])}`);
    await inspect(page, 'job-failed');
    const link = page.getByRole('link', { name: 'What' });
    expect(await link.getAttribute('href')).toMatch(/\/docs\/reference\/errors#[a-z_]+$/);
    await service.query(
      `insert into jobs (id, account_id, livemode, operation, status, created_at, completed_at, input_key, input_stored,
         options, limits, features, retention_seconds, metadata, error)
       select 'job_page' || lpad(n::text, 16, '0'), $1, false, 'compress', 'failed', now() - n * interval '1 minute', now(),
         '', true, '{}', '{}', '{}', 3600, '{}', '{"code":"timeout","message":"m","type":"api_error"}'
       from generate_series(1, 30) as n`,
      [account],
    );
    await open(`${base}/jobs?mode=test`);
    expect(await page.locator('tbody tr').count()).toBe(25);
    await page.getByRole('link', { name: 'Older' }).click();
    await expect.poll(() => page.locator('tbody tr').count()).toBe(5);
    await page.getByRole('link', { name: 'Newer' }).click();
    await expect.poll(() => page.locator('tbody tr').count()).toBe(25);
    await open(`${base}/jobs?created_after=nonsense`);
    await page.locator('#p-created_after').waitFor();
  });
});

describe('webhooks', () => {
  it('sends a failed delivery again, and it arrives; tests, pauses, replaces the secret, deletes', async () => {
    let status = 500;
    const receiver = await startReceiver({ respond: (response) => response.writeHead(status).end() });
    await open(`${base}/webhooks`);
    await page.getByLabel('Address').fill('https://10.0.0.1/hook');
    await page.getByRole('button', { name: 'Add the endpoint' }).click();
    await page.locator('#p-url').waitFor();
    await page.getByLabel('Address').fill(`${receiver.url}/hook`);
    await page.getByRole('button', { name: 'Add the endpoint' }).click();
    expect(await page.locator('#secret').innerText()).toMatch(/^whsec_[A-Za-z0-9]{32}$/);
    await inspect(page, 'webhook-created');
    await page.getByRole('button', { name: 'Send a test' }).click();
    await page.locator('.notice.bad', { hasText: 'The test failed: status 500' }).waitFor();

    const id = await upload(api, Buffer.from('a,b\n1,2\n'), 't.csv');
    const json = { operation: 'convert', input: { upload: id }, options: { convert: { to: 'json' } } };
    await finished(api, String((await api('POST', '/v1/jobs', { json })).json()['id']));
    await expect.poll(() => receiver.received.length).toBeGreaterThan(1);
    await expect
      .poll(async () => {
        await page.reload();
        return page.locator('.status.retrying').count();
      })
      .toBe(1);
    await inspect(page, 'webhook-retrying');
    await page.getByRole('link', { name: /^evt_/ }).first().click();
    const soFar = receiver.received.length;
    await page.getByRole('button', { name: 'Send now' }).click();
    await page.getByText('The next attempt is being made.').waitFor();
    await expect.poll(() => receiver.received.length).toBe(soFar + 1);
    await page.getByRole('link', { name: 'Webhooks' }).last().click();
    await service.query('update webhook_deliveries set done_at = now(), delivered = false where account_id = $1', [
      account,
    ]);
    await page.reload();
    await page.getByRole('link', { name: /^evt_/ }).first().click();
    await page.getByText('the response has status 500').first().waitFor();
    await inspect(page, 'delivery');
    status = 204;
    const before = receiver.received.length;
    await page.getByRole('button', { name: 'Send it again' }).click();
    await expect.poll(() => receiver.received.length).toBe(before + 1);
    await expect
      .poll(async () => {
        await page.reload();
        return page.locator('.facts .status.delivered').count();
      })
      .toBe(1);
    await documented(page, 'delivery');

    await page.getByRole('link', { name: 'Webhooks' }).first().click();
    await inspect(page, 'webhooks');
    await page.getByRole('link', { name: 'dropped', exact: true }).click();
    await page.getByText('No matching delivery.').waitFor();
    await service.query('update webhook_deliveries set delivered = false where account_id = $1', [account]);
    await page.getByRole('link', { name: `${receiver.url}/h` }).click();
    await page.getByRole('button', { name: 'Send all again …' }).click();
    await inspect(page, 'webhook-dialog');
    await page.getByRole('button', { name: 'Send all again', exact: true }).click();
    await page.getByText('1 event queued again.').waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('The endpoint is paused.').waitFor();
    await page.getByText('Replace the secret …').click();
    await page.getByRole('button', { name: 'Rotate the secret' }).click();
    expect(await page.locator('#secret').innerText()).toMatch(/^whsec_/);
    await page.getByText('Delete the endpoint …').click();
    await page.getByRole('button', { name: 'Delete the endpoint', exact: true }).click();
    await page.getByText('The endpoint is deleted.').waitFor();
    expectNoComplaints();
  });
});

describe('presets, plan, usage, samples', () => {
  it('saves and deletes a preset', async () => {
    await open(`${base}/presets`);
    await page.getByLabel('Name').fill('web');
    await page.getByLabel('Options as JSON').fill('{"image": {"quality": 500}}');
    await page.getByRole('button', { name: 'Save the preset' }).click();
    await page.locator('#p-options').waitFor();
    await page.getByLabel('Options as JSON').fill('{"image": {"format": "webp"}}');
    await page.getByRole('button', { name: 'Save the preset' }).click();
    await page.getByText('is saved').waitFor();
    await page.getByRole('link', { name: 'Edit' }).click();
    await page.getByLabel('image.format').selectOption('avif');
    await page.getByLabel('image.quality').fill('60');
    const json = page.getByLabel('Options as JSON');
    expect(JSON.parse(await json.inputValue())).toEqual({ image: { format: 'avif', quality: 60 } });
    await inspect(page, 'preset-edited');
    await json.fill('{"image": {"quality": 50, "resize": {"mode": "fill"}}}');
    expect(await page.getByLabel('image.format').inputValue()).toBe('');
    expect(await page.getByLabel('image.resize.mode').inputValue()).toBe('fill');
    await page.getByRole('button', { name: 'Save the preset' }).click();
    await page.getByText('"quality":50').waitFor();
    await inspect(page, 'presets');
    await page.getByText('Delete web …').click();
    await page.getByRole('button', { name: 'Delete the preset', exact: true }).click();
    await page.getByText('The preset is deleted.').waitFor();
  });

  it('shows the request for chosen options, sends a sample, and a kind that needs a job', async () => {
    await open(`${base}/playground`);
    await page.getByLabel('Key').fill(test);
    await page.locator('#play-sample').selectOption('photo.jpg');
    await page.getByLabel('image.format').selectOption('webp');
    await page.locator('#code-0', { hasText: 'image.format=webp' }).waitFor();
    await page.getByRole('button', { name: 'Send the file' }).click();
    await page.getByRole('link', { name: 'Download photo.webp' }).waitFor();
    await page.getByText(/^846\.\d KB → [\d.]+ KB: [\d.]+ % smaller\.$/).waitFor();
    await page.locator('.compare .stack canvas').first().waitFor();
    await inspect(page, 'playground');
    await page.locator('#play-sample').selectOption('letter.docx');
    await page.getByRole('link', { name: 'convert', exact: true }).click();
    await page.getByLabel('Key').fill(test);
    await page.locator('#play-sample').selectOption('letter.docx');
    await page.getByLabel('convert.to').selectOption('txt');
    await page.locator('#code-0', { hasText: '"to":"txt"' }).waitFor();
    await page.getByRole('button', { name: 'Send the file' }).click();
    await page.getByRole('link', { name: 'Download letter.txt' }).waitFor({ timeout: 60_000 });
    await page.getByLabel('Key').fill('svc_test_wrong');
    await page.getByRole('button', { name: 'Send the file' }).click();
    await page.locator('#play-result .problem', { hasText: 'invalid_key' }).waitFor();
    expectNoComplaints();
  });

  it('sets the spend cap, which holds at once', async () => {
    await open(`${base}/plan`);
    await page.getByLabel('Monthly spend cap in US dollars').fill('0');
    await page.getByRole('button', { name: 'Set the cap' }).click();
    await page.getByText('The spend cap is $0.00 a month.').waitFor();
    await inspect(page, 'plan-cap-reached');
    const refused = await api('POST', '/v1/jobs', { json: { operation: 'compress', input: { upload: 'upl_0' } } });
    expect(refused.json()).toMatchObject({ error: { code: 'spend_cap_reached' } });
    await open(`${base}/keys`);
    await page.locator('.notice.bad', { hasText: 'New work with live keys is refused.' }).waitFor();
    await inspect(page, 'cap-reached');
    await page.getByRole('alert').getByRole('link', { name: 'Plan and spend cap' }).click();
    await page.getByLabel('Monthly spend cap in US dollars').fill('');
    await page.getByRole('button', { name: 'Set the cap' }).click();
    await page.getByText('The spend cap is $1,000.00 a month.').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    await inspect(page, 'plan');
  });

  it('shows usage as a chart and a table, and offers a sample that a test key accepts', async () => {
    await open(`${base}/usage`);
    await inspect(page, 'usage');
    await documented(page, 'usage');
    await open(`${base}/samples`);
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'people.csv', exact: true }).click();
    const bytes = readFileSync(await (await download).path());
    const response = await api('POST', '/v1/convert?to=json&filename=people.csv', { key: test, body: bytes });
    expect(response.status).toBe(200);
    await inspect(page, 'samples');
  });

  it('invites a member, who sees what the role allows', async () => {
    await open(`${base}/members`);
    await page.getByLabel('E-mail').fill('reader@example.com');
    await page.getByLabel('Role').last().selectOption('read_only');
    await page.getByRole('button', { name: 'Invite' }).click();
    const link = await page.locator('#secret').innerText();
    await inspect(page, 'members');
    const reader = await visitor('phone', { colorScheme: 'dark' });
    await followLink(reader, link, 'another one nobody knows');
    await reader.open(`${base}/keys`);
    await reader.page.getByRole('heading', { name: 'API keys' }).waitFor();
    expect(await reader.page.getByRole('button', { name: 'Create the key' }).count()).toBe(0);
    expectNoComplaints();
  });
});

describe('every page of an account', () => {
  const PAGES = [
    '',
    '/quick-start',
    '/playground',
    '/keys',
    '/jobs',
    '/uploads',
    '/usage',
    '/plan',
    '/presets',
    '/webhooks',
    '/samples',
    '/members',
    '/activity',
    '/receipts',
  ];

  it('stands on a phone in the dark as axe wants it, in times of the reader', async () => {
    const { cookies } = await page.context().storageState();
    const phone = await visitor('phone', { colorScheme: 'dark' });
    await phone.context.addCookies(cookies);
    for (const below of PAGES) {
      await phone.open(base + below);
      await inspect(phone.page, `phone-dark${below.replace('/', '-') || '-overview'}`);
    }
    await phone.open(`${base}/activity`);
    const time = phone.page.locator('time').first();
    const [utc, shown] = [await time.getAttribute('title'), await time.innerText()];
    expect(utc).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/);
    const wanted = new Date(String(await time.getAttribute('datetime'))).toLocaleString('en-GB', {
      dateStyle: 'medium',
      timeStyle: 'medium',
      timeZone: 'Asia/Tokyo',
    });
    expect(shown).toBe(wanted);
    expectNoComplaints();
  }, 300_000);

  it('has no time that covers its neighbor on a phone where hours are written with AM and PM', async () => {
    const { cookies } = await page.context().storageState();
    const phone = await visitor('phone', { locale: 'en-US' });
    await phone.context.addCookies(cookies);
    await phone.open(`${base}/activity`);
    await phone.page
      .getByText(/\d [AP]M$/)
      .first()
      .waitFor();
    const tooWide = '[...document.querySelectorAll("td")].filter((cell) => cell.scrollWidth > cell.clientWidth).length';
    expect(await phone.page.evaluate(tooWide)).toBe(0);
    expectNoComplaints();
  });

  it('is reached and used by the keyboard alone', async () => {
    await open(base);
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('content');
    await open(`${base}/presets`);
    await page.getByLabel('Name').focus();
    await page.keyboard.type('by-keyboard');
    const tabUntil = async (found: string): Promise<void> => {
      for (let pressed = 0; pressed < 40; pressed += 1) {
        await page.keyboard.press('Tab');
        if (await page.evaluate<boolean>(found)) return;
      }
      throw new Error(`not reached by the keyboard: ${found}`);
    };
    await tabUntil('document.activeElement.id === "f-options"');
    await page.keyboard.type('{"pdf": {"quality": "tiny"}}');
    await tabUntil('document.activeElement.textContent === "Save the preset"');
    await page.keyboard.press('Enter');
    await page.getByText('is saved').waitFor();
  });

  it('shows in under a second', async () => {
    for (const below of PAGES) {
      await open(base + below);
      const ms = await page.evaluate<number>('performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd');
      shown.push([below, Math.round(ms)]);
    }
    process.stderr.write(`milliseconds to a shown page: ${JSON.stringify(Object.fromEntries(shown))}\n`);
  });
  const shown: [string, number][] = [];
});
