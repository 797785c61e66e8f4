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

  it('keeps the address of the service that a guide starts', async () => {
    const { page } = await visitor();
    await page.goto(`${baseUrl}/docs/guides/webhooks-on-a-laptop`, { waitUntil: 'networkidle' });
    const code = (await page.locator('.vp-doc code').allTextContents()).join('\n');
    expect(code).toContain('--port 8443');
    expect(code).toContain('https://localhost:8443');
    expect(code).not.toContain(baseUrl);
  });

  describe('on a phone, where the application starts at the first input', () => {
    const isStarted = '"__VITEPRESS__" in globalThis';

    it('shows the address of this service without it', async () => {
      const { page } = await visitor('phone');
      await page.goto(`${baseUrl}/docs`, { waitUntil: 'networkidle' });
      expect(await page.locator('.vp-doc code').allTextContents()).toContainEqual(expect.stringContaining(baseUrl));
      expect(await page.evaluate(isStarted)).toBe(false);
      expectNoComplaints();
    });

    it('repeats a click that came before it', async () => {
      const { page } = await visitor('phone');
      await page.goto(`${baseUrl}/docs/reference/jobs`);
      await page.getByRole('button', { name: 'Search' }).dispatchEvent('click');
      await page.getByRole('searchbox').waitFor();
      await page.goto(`${baseUrl}/docs/reference/webhooks`);
      await page.getByRole('button', { name: 'On this page' }).click();
      await page.getByRole('link', { name: 'Verify the signature' }).first().click();
      await page.waitForURL(`${baseUrl}/docs/reference/webhooks#verify-the-signature`);
      await page.goto(`${baseUrl}/docs/guides/large-files`);
      await page.locator('button.copy:visible').first().dispatchEvent('click');
      await page.locator('button.copied').waitFor();
      expectNoComplaints();
    });

    it('repeats a shortcut that came before it', async () => {
      const { page } = await visitor('phone');
      await page.goto(`${baseUrl}/docs/reference/jobs`);
      await page.keyboard.press('/');
      await page.getByRole('searchbox').waitFor();
      expectNoComplaints();
    });

    it('keeps the position of a reader who has scrolled', async () => {
      const { page } = await visitor('phone');
      await page.goto(`${baseUrl}/docs/reference/errors#invalid_options`, { waitUntil: 'networkidle' });
      await page.evaluate('scrollTo({ top: 2000, behavior: "instant" })');
      await page.keyboard.press('Shift');
      await page.getByRole('button', { name: 'On this page' }).locator('.icon').waitFor();
      expect(await page.evaluate('scrollY')).toBe(2000);
      expectNoComplaints();
    });
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
