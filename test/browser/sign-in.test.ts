import { describe, expect, it } from 'vitest';
import { codeOf } from '#test/support/totp-code.ts';
import { useService } from '#test/support/use-service.ts';
import { expectNoComplaints, followLink, inspect, press, signIn, visitor } from './browser.ts';

const { service, account } = await useService('payg');
const PASSWORD = 'nobody guesses this one';

async function invite(email: string): Promise<string> {
  const { link } = await service.mediactl('user', 'invite', '--email', email, '--account', account);
  return String(link);
}

describe('signing in', () => {
  it('starts with a one-time link that sets the password, and works with that password afterwards', async () => {
    const somebody = await visitor();
    const { page } = somebody;
    const link = await invite('ada@example.com');
    await page.goto(link);
    await inspect(page, 'one-time-link');
    await page.getByLabel('New password').fill('short');
    await page.getByRole('button', { name: 'Set the password' }).click();
    await page.getByText('It has 5 characters; use 12 to 200.').waitFor();
    await inspect(page, 'one-time-link-refused');
    await page.getByLabel('New password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Set the password' }).click();
    await page.getByRole('heading', { name: 'test', level: 1 }).waitFor();

    await press(page, 'Sign out');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await inspect(page, 'sign-in');
    await signIn(somebody, 'ada@example.com', 'not the password');
    await page.getByText('The e-mail address or the password is wrong.').waitFor();
    expect(await page.getByLabel('E-mail').inputValue()).toBe('ada@example.com');
    expect(await page.getByLabel('Password').inputValue()).toBe('');
    await inspect(page, 'sign-in-refused');
    await signIn(somebody, 'Ada@Example.com', PASSWORD);
    await page.getByRole('heading', { name: 'test', level: 1 }).waitFor();

    await page.goto(link);
    await page.getByText('This link was used, was withdrawn or has expired.').waitFor();
    expectNoComplaints();
  });

  it('asks for a code once the second step is on, each code once', async () => {
    const somebody = await visitor('phone');
    const { page, open } = somebody;
    await followLink(somebody, await invite('grace@example.com'), PASSWORD);
    await open('/profile');
    await inspect(page, 'profile-phone');
    await page.locator('#f-again').fill('another password');
    await page.getByRole('button', { name: 'Set up an authenticator app' }).click();
    await page.getByText('This is not your current password.').waitFor();
    await inspect(page, 'second-step-refused-phone');
    await page.locator('#f-again').fill(PASSWORD);
    await page.getByRole('button', { name: 'Set up an authenticator app' }).click();
    const secret = (await page.locator('p:has-text("Key:") code').innerText()).replaceAll(' ', '');
    await inspect(page, 'second-step-set-up-phone');
    const code = (later = 0): string => codeOf(secret, Math.floor(Date.now() / 30_000) + later);
    await page.getByLabel('Code', { exact: true }).fill('000000');
    await page.getByRole('button', { name: 'Switch the second step on' }).click();
    await page.getByText('The code is wrong or was used.').waitFor();
    const first = code();
    await page.getByLabel('Code', { exact: true }).fill(first);
    await page.getByRole('button', { name: 'Switch the second step on' }).click();
    await page.getByText('The second step is on').waitFor();

    await press(page, 'Sign out');
    await signIn(somebody, 'grace@example.com', PASSWORD);
    await page.getByRole('heading', { name: 'Second step' }).waitFor();
    await inspect(page, 'second-step-phone');
    await open('/profile');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await open('/second-step');
    await page.getByLabel('Code', { exact: true }).fill(first);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('The code is wrong or was used.').waitFor();
    await page.getByLabel('Code', { exact: true }).fill(code(1));
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'test', level: 1 }).waitFor();
    expectNoComplaints();
  });

  it('goes through the company’s identity provider from the link of an invitation, and for nobody else', async () => {
    const provided = async (login: string, link: string | null) => {
      const somebody = await visitor();
      if (link === null) await somebody.open('/sign-in');
      else await somebody.page.goto(link);
      await somebody.page.getByRole('link', { name: 'Sign in with your company' }).click();
      await somebody.page.locator('input[name=login]').fill(login);
      await somebody.page.locator('input[name=password]').fill('any');
      await somebody.page.getByRole('button', { name: 'Sign-in' }).click();
      await somebody.page.getByRole('button', { name: 'Continue' }).click();
      return somebody;
    };
    const link = await invite('linus@example.com');
    const refused = 'no login here is connected to it';
    for (const [login, from] of [
      ['linus', null],
      ['mallory', link],
      ['unverified', await invite('unverified@example.com')],
    ] as const) {
      const { page } = await provided(login, from);
      await page.getByText(refused).waitFor();
      await inspect(page, 'provider-refused');
    }
    const { page, context } = await provided('linus', link);
    await inspect(page, 'invitation-accept');
    await page.getByRole('button', { name: 'Accept the invitation' }).click();
    await page.getByRole('heading', { name: 'test', level: 1 }).waitFor();
    expect((await context.cookies()).filter(({ path }) => path === '/').map(({ name }) => name)).toContain(
      '__Host-mediajobs_session',
    );
    const again = await provided('linus', null);
    await again.page.getByRole('heading', { name: 'test', level: 1 }).waitFor();
    expectNoComplaints();
  });

  it('with a password leads to connecting the company, which signs in from then on', async () => {
    const somebody = await visitor();
    await followLink(somebody, await invite('barbara@example.com'), PASSWORD);
    await somebody.open('/profile');
    await somebody.page.getByRole('link', { name: "Connect with your company's sign-in" }).click();
    await somebody.page.locator('input[name=login]').fill('barbara');
    await somebody.page.locator('input[name=password]').fill('any');
    await somebody.page.getByRole('button', { name: 'Sign-in' }).click();
    await somebody.page.getByRole('button', { name: 'Continue' }).click();
    await somebody.page.getByRole('heading', { name: 'Profile' }).waitFor();
    expect(await somebody.page.getByRole('link', { name: 'Connect with' }).count()).toBe(0);
    await inspect(somebody.page, 'profile-connected');
  });
});
