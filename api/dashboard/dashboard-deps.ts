import type { Peppers } from '#api/accounts/api-key.ts';
import type { ApiDeps } from '#api/http/api-deps.ts';
import type { IdentityProvider } from '#api/dashboard/identity-provider.ts';

/** Dependencies of the dashboard: those of endpoints, and those of `mediactl`. */
export interface DashboardDeps extends ApiDeps {
  readonly peppers: Peppers;
  /** Name of the installation. */
  readonly name: string;
  /** Public URL of the dashboard, without trailing slash. */
  readonly dashboardUrl: string;
  /** OpenID Connect provider; null for sign-in by password only. */
  readonly identityProvider: IdentityProvider | null;
  /** Whether `MEDIAJOBS_ISOLATION` is `none`, which operators' pages warn about. */
  readonly acceptsNoIsolation: boolean;
  /** Whether pages show no prices, spending and caps: the installation bills nobody. */
  readonly hidesPrices: boolean;
  /** URL of Grafana; null for pages without links to it. */
  readonly grafanaUrl: string | null;
}
