import type { DashboardDeps } from '#api/dashboard/dashboard-deps.ts';
import type { UserVisit } from '#api/dashboard/route.ts';
import { insertAudit } from '#api/users/audit-rows.ts';

interface Change {
  /** Such as `key.create`. */
  readonly action: string;
  readonly target: string | null;
  readonly accountId: string | null;
}

/** Notes a change that was made. */
export async function audit(
  { database, clock }: DashboardDeps,
  { user, address }: Pick<UserVisit, 'user' | 'address'>,
  change: Change,
): Promise<void> {
  await insertAudit(database, { at: clock.now(), userId: user.id, email: user.email, address, ...change });
}
