import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import { dashboardUrlOf } from '#api/dashboard/dashboard-url.ts';
import { makeIdentityProvider, type IdentityProvider } from '#api/dashboard/identity-provider.ts';
import { ConfigError } from '#crds/shared/config.ts';
import type { Settings } from '#crds/shared/settings.ts';

type Given = Pick<
  Settings,
  | 'MEDIAJOBS_BASE_URL'
  | 'MEDIAJOBS_DASHBOARD_URL'
  | 'MEDIAJOBS_GRAFANA_URL'
  | 'MEDIAJOBS_OIDC_ISSUER'
  | 'MEDIAJOBS_OIDC_CLIENT_ID'
  | 'MEDIAJOBS_OIDC_CLIENT_SECRET'
>;

/** What the settings say of the dashboard; null: there is none. @throws ConfigError */
export function dashboardSettings(
  given: Given,
): Pick<DashboardDeps, 'dashboardUrl' | 'grafanaUrl' | 'identityProvider'> | null {
  const dashboardUrl = dashboardUrlOf(given);
  if (dashboardUrl === null) return null;
  if (!/^https:\/\/[^/?#]+\/dashboard$/.test(dashboardUrl)) {
    throw new ConfigError([`MEDIAJOBS_DASHBOARD_URL: is ${dashboardUrl}; it must be https and end in /dashboard.`]);
  }
  const grafanaUrl = given.MEDIAJOBS_GRAFANA_URL ?? null;
  return { dashboardUrl, grafanaUrl, identityProvider: providerOf(given, dashboardUrl) };
}

function providerOf(given: Given, dashboardUrl: string): IdentityProvider | null {
  const {
    MEDIAJOBS_OIDC_ISSUER: issuer,
    MEDIAJOBS_OIDC_CLIENT_ID: clientId,
    MEDIAJOBS_OIDC_CLIENT_SECRET: clientSecret,
  } = given;
  if (issuer === undefined) return null;
  if (clientId === undefined || clientSecret === undefined) {
    throw new ConfigError(['MEDIAJOBS_OIDC_ISSUER: needs MEDIAJOBS_OIDC_CLIENT_ID and MEDIAJOBS_OIDC_CLIENT_SECRET.']);
  }
  return makeIdentityProvider({ issuer, clientId, clientSecret, redirectUrl: `${dashboardUrl}/provider/callback` });
}
