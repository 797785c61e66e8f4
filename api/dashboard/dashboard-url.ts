import type { Settings } from '#crds/shared/settings.ts';

/** Without slash at the end; null: switched off. */
export function dashboardUrlOf({
  MEDIAJOBS_BASE_URL: baseUrl,
  MEDIAJOBS_DASHBOARD_URL: own,
}: Pick<Settings, 'MEDIAJOBS_BASE_URL' | 'MEDIAJOBS_DASHBOARD_URL'>): string | null {
  if (own === 'off') return null;
  return (own ?? `${baseUrl}/dashboard`).replace(/\/+$/, '');
}
