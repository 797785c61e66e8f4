/** The documentation site in Chromium: nothing that its content policy blocks, no violation of axe, nothing wider than the screen. */
import { describe, expect, inject, it } from 'vitest';
import { expectNoComplaints, inspect, visitor } from '#test/browser/browser.ts';

const PAGES = [
  '/docs',
  '/docs/reference/errors',
  '/docs/reference/endpoints',
  '/docs/reference/endpoints/jobs',
  '/docs/guides/choosing-quality',
  '/docs/benchmarks',
];
const { baseUrl } = inject('service');

describe('the documentation', () => {
  it.each(['desktop', 'phone'] as const)(
    'has pages without complaints on a %s',
    async (size) => {
      const { page } = await visitor(size, size === 'phone' ? { colorScheme: 'dark' } : {});
      for (const path of PAGES) {
        await page.goto(`${baseUrl}${path}`, { waitUntil: 'networkidle' });
        await inspect(page, `docs-${size}${path.replaceAll('/', '-')}`);
      }
      expectNoComplaints();
    },
    120_000,
  );

  it('shows all examples in the language that is chosen in one, on the next page too', async () => {
    const { page } = await visitor();
    await page.goto(`${baseUrl}/docs`, { waitUntil: 'networkidle' });
    await page.getByText('Python', { exact: true }).first().click();
    expect(await page.locator('.language-python:visible').count()).toBe(2);
    expect(await page.locator('.language-ts:visible').count()).toBe(0);
    await page.goto(`${baseUrl}/docs/guides/large-files`, { waitUntil: 'networkidle' });
    await page.locator('.language-python:visible').waitFor();
    expectNoComplaints();
  });

  it('shows each language of an example without scripts', async () => {
    const { page } = await visitor('desktop', { javaScriptEnabled: false });
    await page.goto(`${baseUrl}/docs`);
    expect(await page.locator('.language-ts:visible').count()).toBe(0);
    await page.getByText('TypeScript', { exact: true }).first().click();
    expect(await page.locator('.language-ts:visible').count()).toBe(1);
  });

  it('finds a section by its words', async () => {
    const { page } = await visitor();
    await page.goto(`${baseUrl}/docs`, { waitUntil: 'networkidle' });
    await page.keyboard.press('Control+k');
    await page.getByRole('searchbox').fill('verify signature');
    await page
      .getByRole('option', { name: /Verify the signature/ })
      .first()
      .click();
    await page.waitForURL(`${baseUrl}/docs/reference/webhooks#verify-the-signature`);
    await expect.poll(() => page.title()).toContain('Webhooks');
    expectNoComplaints();
  });
});
