import type { Settings } from '#crds/process/settings.ts';

/** Returns the URL of the dashboard without trailing slash; null if it is switched off. */
export function dashboardUrlOf({
  MEDIAJOBS_BASE_URL: baseUrl,
  MEDIAJOBS_DASHBOARD_URL: own,
}: Pick<Settings, 'MEDIAJOBS_BASE_URL' | 'MEDIAJOBS_DASHBOARD_URL'>): string | null {
  if (own === 'off') return null;
  return (own ?? `${baseUrl}/dashboard`).replace(/\/+$/, '');
}
