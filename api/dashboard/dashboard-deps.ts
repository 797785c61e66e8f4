import type { Peppers } from '#api/accounts/api-key.ts';
import type { ApiDeps } from '#api/api-deps.ts';
import type { IdentityProvider } from '#api/dashboard/identity-provider.ts';

/** Everything that the dashboard may touch: what endpoints may, and what only `mediactl` needs besides. */
export interface DashboardDeps extends ApiDeps {
  readonly peppers: Peppers;
  /** Public address of the dashboard, without slash at the end. */
  readonly dashboardUrl: string;
  /** null: sign-in by password alone. */
  readonly identityProvider: IdentityProvider | null;
  /** null: no links to Grafana. */
  readonly grafanaUrl: string | null;
}
