import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import { dashboardUrlOf } from '#api/users/dashboard-url.ts';
import { makeIdentityProvider, type IdentityProvider } from '#api/dashboard/identity-provider.ts';
import { ConfigError } from '#crds/process/config.ts';
import type { Settings } from '#crds/process/settings.ts';

type DashboardConfig = Pick<
  Settings,
  | 'MEDIAJOBS_BASE_URL'
  | 'MEDIAJOBS_DASHBOARD_URL'
  | 'MEDIAJOBS_GRAFANA_URL'
  | 'MEDIAJOBS_HIDE_PRICES'
  | 'MEDIAJOBS_ISOLATION'
  | 'MEDIAJOBS_OIDC_ISSUER'
  | 'MEDIAJOBS_OIDC_CLIENT_ID'
  | 'MEDIAJOBS_OIDC_CLIENT_SECRET'
>;

/** Returns the settings of the dashboard; null if it is switched off. @throws ConfigError */
export function dashboardSettings(
  config: DashboardConfig,
): Pick<
  DashboardDeps,
  'dashboardUrl' | 'grafanaUrl' | 'hidesPrices' | 'identityProvider' | 'acceptsNoIsolation'
> | null {
  const dashboardUrl = dashboardUrlOf(config);
  if (dashboardUrl === null) return null;
  if (!/^https:\/\/[^/?#]+\/dashboard$/.test(dashboardUrl)) {
    throw new ConfigError([`MEDIAJOBS_DASHBOARD_URL: is ${dashboardUrl}; it must be https and end in /dashboard.`]);
  }
  const grafanaUrl = config.MEDIAJOBS_GRAFANA_URL ?? null;
  const hidesPrices = config.MEDIAJOBS_HIDE_PRICES;
  const acceptsNoIsolation = config.MEDIAJOBS_ISOLATION === 'none';
  const identityProvider = providerOf(config, dashboardUrl);
  return { dashboardUrl, grafanaUrl, hidesPrices, identityProvider, acceptsNoIsolation };
}

function providerOf(config: DashboardConfig, dashboardUrl: string): IdentityProvider | null {
  const {
    MEDIAJOBS_OIDC_ISSUER: issuer,
    MEDIAJOBS_OIDC_CLIENT_ID: clientId,
    MEDIAJOBS_OIDC_CLIENT_SECRET: clientSecret,
  } = config;
  if (issuer === undefined) return null;
  if (clientId === undefined || clientSecret === undefined) {
    throw new ConfigError(['MEDIAJOBS_OIDC_ISSUER: needs MEDIAJOBS_OIDC_CLIENT_ID and MEDIAJOBS_OIDC_CLIENT_SECRET.']);
  }
  return makeIdentityProvider({ issuer, clientId, clientSecret, redirectUrl: `${dashboardUrl}/provider/callback` });
}
