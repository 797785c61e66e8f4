import { expect, it } from 'vitest';
import { dashboardUrlOf } from '#api/users/dashboard-url.ts';

it.each([
  [undefined, 'https://media.test/dashboard'],
  ['https://console.test/dashboard/', 'https://console.test/dashboard'],
  ['off', null],
])('with MEDIAJOBS_DASHBOARD_URL=%s the dashboard is at %s', (own, url) => {
  const settings = { MEDIAJOBS_BASE_URL: 'https://media.test', MEDIAJOBS_DASHBOARD_URL: own };
  expect(dashboardUrlOf(settings as Parameters<typeof dashboardUrlOf>[0])).toBe(url);
});
