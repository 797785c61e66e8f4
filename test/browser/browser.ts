import { mkdirSync } from 'node:fs';
import path from 'node:path';
import axe from 'axe-core';
import sharp from 'sharp';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { afterAll, expect, inject } from 'vitest';

/** Where the run leaves its screenshots. */
const SCREENSHOTS = path.resolve('test/output/browser');
const DOCUMENTATION = path.resolve('docs/images');
const SIZES = { desktop: { width: 1280, height: 900 }, phone: { width: 390, height: 844 } } as const;
export type Size = keyof typeof SIZES;

interface Visitor {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Opens a path below the dashboard. */
  readonly open: (below: string) => Promise<void>;
}

let browser: Browser | null = null;

/** Opens a browser without cookies, closed after the file's tests. Its errors fail the test that reads them. */
export async function visitor(
  size: Size = 'desktop',
  settings: { colorScheme?: 'dark' | 'light'; javaScriptEnabled?: boolean; locale?: string } = {},
): Promise<Visitor> {
  browser ??= await start();
  const { baseUrl } = inject('service');
  const context = await browser.newContext({
    viewport: SIZES[size],
    ignoreHTTPSErrors: true,
    timezoneId: 'Asia/Tokyo',
    locale: 'en-GB',
    permissions: ['clipboard-read', 'clipboard-write'],
    ...settings,
  });
  context.setDefaultTimeout(15_000);
  const page = await context.newPage();
  page.on('console', (message) => {
    // Refused forms answer 4xx, which the browser notes. Pages of the tests' identity provider ask for fonts elsewhere.
    const { url } = message.location();
    const isForeign = url !== '' && !url.startsWith(baseUrl);
    if (!isForeign && message.type() === 'error' && !message.text().includes('the server responded with a status of 4'))
      complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  return { page, context, open: async (below) => void (await page.goto(`${baseUrl}/dashboard${below}`)) };
}

const complaints: string[] = [];

/** Nothing was blocked by the policy, and no script failed. */
export function expectNoComplaints(): void {
  expect(complaints.splice(0)).toEqual([]);
}

/** Neither axe nor the width of the screen has anything against the page; a screenshot is kept. */
export async function inspect(page: Page, name: string): Promise<void> {
  mkdirSync(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: path.join(SCREENSHOTS, `${name}.png`), fullPage: true });
  await page.evaluate(axe.source);
  const found = await page.evaluate(() =>
    (globalThis as unknown as { axe: typeof axe }).axe.run(
      { exclude: ['.unchecked'] },
      { resultTypes: ['violations'] },
    ),
  );
  expect(
    found.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`),
    name,
  ).toEqual([]);
  // As text: the types of the page's world are not those of Node.
  const [wide, width] = await page.evaluate<[number, number]>(
    '[document.documentElement.scrollWidth, document.documentElement.clientWidth]',
  );
  expect(wide, `${name} scrolls sideways`).toBeLessThanOrEqual(width);
}

/** With DOCUMENT_SCREENSHOTS set this screenshot goes into the documentation. */
export async function documented(page: Page, name: string): Promise<void> {
  if (process.env['DOCUMENT_SCREENSHOTS'] === undefined) return;
  const picture = await page.screenshot({ clip: { x: 0, y: 0, ...SIZES.desktop, height: 640 } });
  mkdirSync(DOCUMENTATION, { recursive: true });
  await sharp(picture)
    .resize({ width: 900 })
    .png({ palette: true, colours: 32 })
    .toFile(path.join(DOCUMENTATION, `dashboard-${name}.png`));
}

/** Signs in by the form. */
export async function signIn({ page, open }: Visitor, email: string, password: string): Promise<void> {
  await open('/sign-in');
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(password);
  await press(page, 'Sign in');
}

/** Uses a one-time link, which sets the password. */
export async function followLink({ page }: Visitor, link: string, password: string): Promise<void> {
  await page.goto(link);
  await page.getByLabel('New password').fill(password);
  await press(page, 'Set the password');
}

/** Presses a button that sends a form, and waits for the page that answers. */
export async function press(page: Page, name: string): Promise<void> {
  await Promise.all([page.waitForEvent('framenavigated'), page.getByRole('button', { name }).first().click()]);
  await page.waitForLoadState();
}

async function start(): Promise<Browser> {
  const launched = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox'],
    env: { ...process.env, FONTCONFIG_FILE: path.resolve('test/browser/fonts.conf') },
  });
  afterAll(() => launched.close());
  return launched;
}
