import type { AccountCaller } from '#api/accounts/find-caller.ts';
import { utcDay, utcMonth } from '#api/billing/calendar.ts';
import { selectUsage } from '#api/billing/usage-rows.ts';
import { usageObject, type Usage } from '#api/billing/usage.ts';
import type { Dependencies } from '#api/dependencies.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import { LIMITS } from '#crds/catalogue/plans.ts';

const DAY_MS = 24 * 3600 * 1000;

/** Range of days, both ends included; UTC, as YYYY-MM-DD. */
export interface UsageDays {
  /** null: the first day of this month. */
  readonly from: string | null;
  /** null: today. */
  readonly to: string | null;
}

/** Returns the usage of the caller's account and mode. @throws MediaError bad_request for the days. */
export async function readUsage(
  { database, clock }: Pick<Dependencies, 'database' | 'clock'>,
  { caller, input }: { caller: Pick<AccountCaller, 'account' | 'livemode'>; input: UsageDays },
): Promise<Usage> {
  const now = clock.now();
  const range = { from: input.from ?? utcMonth(now), to: input.to ?? utcDay(now) };
  refuseRange(range);
  const { livemode, account } = caller;
  const rows = await selectUsage(database, { accountId: account.id, livemode, ...range });
  return usageObject(rows, { livemode, ...range });
}

function refuseRange({ from, to }: { from: string; to: string }): void {
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1;
  if (days < 1) {
    const message = `\`from\` is ${from}, after \`to\`, ${to}. \`from\` defaults to the first day of this month, \`to\` to today.`;
    throw new MediaError('bad_request', message, { param: 'from' });
  }
  if (days <= LIMITS.usageDays) return;
  const message = `The range from ${from} to ${to} has ${days} days; a query may cover at most ${LIMITS.usageDays}.`;
  throw new MediaError('bad_request', message, { param: 'from' });
}
