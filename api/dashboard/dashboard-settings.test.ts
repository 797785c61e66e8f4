import { describe, expect, it } from 'vitest';
import { dashboardSettings } from '#api/dashboard/dashboard-settings.ts';

const base = {
  MEDIAJOBS_BASE_URL: 'https://media.example.com',
  MEDIAJOBS_ISOLATION: 'auto',
  MEDIAJOBS_HIDE_PRICES: false,
} as const;
const read = (given: Partial<Parameters<typeof dashboardSettings>[0]>) => dashboardSettings({ ...base, ...given });

describe('the dashboard', () => {
  it('is below the base URL by default', () => {
    expect(read({})).toEqual({
      dashboardUrl: 'https://media.example.com/dashboard',
      grafanaUrl: null,
      hidesPrices: false,
      identityProvider: null,
      acceptsNoIsolation: false,
    });
    const own = read({ MEDIAJOBS_DASHBOARD_URL: 'https://console.example.com/dashboard/' });
    expect(own?.dashboardUrl).toBe('https://console.example.com/dashboard');
  });

  it('warns operators when files may be opened without isolation', () => {
    expect(read({ MEDIAJOBS_ISOLATION: 'none' })?.acceptsNoIsolation).toBe(true);
    expect(read({ MEDIAJOBS_ISOLATION: 'pod' })?.acceptsNoIsolation).toBe(false);
  });

  it('can be switched off', () => {
    expect(read({ MEDIAJOBS_DASHBOARD_URL: 'off' })).toBeNull();
  });

  it.each([
    [{ MEDIAJOBS_DASHBOARD_URL: 'https://console.example.com/' }, 'must be https and end in /dashboard'],
    [{ MEDIAJOBS_DASHBOARD_URL: 'http://console.example.com/dashboard' }, 'must be https and end in /dashboard'],
    [{ MEDIAJOBS_OIDC_ISSUER: 'https://login.example.com' }, 'needs MEDIAJOBS_OIDC_CLIENT_ID'],
  ])('rejects %o', (given, problem) => {
    expect(() => read(given)).toThrow(problem);
  });
});
