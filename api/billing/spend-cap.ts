/**
 * The monthly spend cap. Work in progress counts at the most that it can cost, so that parallel requests
 * end above the cap by at most one request's cost; with nothing in progress a request is admitted as
 * long as the month is under its cap. Spec: Monthly spend cap.
 */
import type { Account } from '#api/accounts/account.ts';
import type { Caller } from '#api/accounts/find-caller.ts';
import { utcMonth } from '#api/billing/calendar.ts';
import { lockReservations } from '#api/billing/direct-reservation-rows.ts';
import { selectSpending } from '#api/billing/ledger-rows.ts';
import type { Queryable } from '#api/store/database.ts';
import { MediaError } from '#crds/media-error.ts';
import { PLANS } from '#crds/plans.ts';
import type { Clock } from '#crds/shared/clock.ts';

type Spender = Pick<Caller, 'account' | 'livemode'>;

/** Why the caller may not start billable work now; null when it may. Test keys always may. */
export async function spendCapRefusal(
  { database, clock }: { readonly database: Queryable; readonly clock: Clock },
  { account, livemode }: Spender,
): Promise<MediaError | null> {
  if (!livemode) return null;
  const cap = spendCapOf(account);
  const now = clock.now();
  const { spent, running } = await selectSpending(database, { accountId: account.id, month: utcMonth(now), now });
  if (spent + running < cap) return null;
  const inProgress = running > 0 ? ` and work in progress may cost up to ${usd(running)}` : '';
  return new MediaError(
    'spend_cap_reached',
    `This month's usage is ${usd(spent)}${inProgress}; the account's monthly spend cap is ${usd(cap)}. ` +
      `${spent < cap ? 'Wait for the work in progress, raise' : 'Raise'} the cap, or wait for the next month (UTC).`,
  );
}

/**
 * The same decision for work that is about to reserve that much. Until the transaction ends nobody else
 * reserves money of the account, so it holds among parallel requests when it inserts the reservation.
 */
export async function reservationRefusal(
  { clock }: { readonly clock: Clock },
  tx: Queryable,
  { caller, reserveMicroUsd }: { caller: Spender; reserveMicroUsd: number },
): Promise<MediaError | null> {
  if (!caller.livemode || reserveMicroUsd === 0) return null;
  await lockReservations(tx, caller.account.id);
  return spendCapRefusal({ database: tx, clock }, caller);
}

/** In micro-dollars. An account with a payment method and no plan pays as it goes. */
export function spendCapOf({ spendCapMicroUsd, plan }: Pick<Account, 'spendCapMicroUsd' | 'plan'>): number {
  return spendCapMicroUsd ?? PLANS[plan].spendCapMicroUsd ?? PLANS.payg.spendCapMicroUsd ?? 0;
}

/** Not rounded: micro-dollars have six decimals at most. */
function usd(microUsd: number): string {
  const [whole = '0', decimals = ''] = (microUsd / 1_000_000).toFixed(6).split('.');
  return `$${whole}.${decimals.replace(/0+$/, '').padEnd(2, '0')}`;
}
