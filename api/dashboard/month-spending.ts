import { utcMonth } from '#api/billing/calendar.ts';
import { selectSpending, type Spending } from '#api/billing/ledger-rows.ts';
import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';

/** Returns the spending of an account in the current month. */
export function monthSpending(
  { database, clock }: Pick<DashboardDeps, 'database' | 'clock'>,
  accountId: string,
): Promise<Spending> {
  const now = clock.now();
  return selectSpending(database, { accountId, month: utcMonth(now), now });
}
