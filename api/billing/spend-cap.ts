/**
 * Monthly spend cap. Running work counts with its maximum cost, so parallel requests exceed the cap by at most one
 * request's cost. Without running work a request is admitted while the month's spending is below the cap. See
 * docs/reference/estimate-and-usage.md#monthly-spend-cap.
 */
import type { Account } from '#api/accounts/account.ts';
import type { AccountCaller } from '#api/accounts/find-caller.ts';
import { utcMonth } from '#api/billing/calendar.ts';
import { lockReservations } from '#api/billing/direct-reservation-rows.ts';
import { selectSpending, type Spending } from '#api/billing/ledger-rows.ts';
import type { Queryable } from '#api/store/database.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import { PLANS } from '#crds/catalogue/plans.ts';
import type { Clock } from '#crds/process/clock.ts';

/** Account with a spend cap, in live or test mode. */
export type Spender = Pick<AccountCaller, 'account' | 'livemode'>;

/** Returns the refusal of new billable work; null when it is admitted. Test keys are always admitted. */
export async function spendCapRefusal(
  { database, clock }: { readonly database: Queryable; readonly clock: Clock },
  { account, livemode }: Spender,
): Promise<MediaError | null> {
  if (!livemode) return null;
  const now = clock.now();
  return refusalOver(account, await selectSpending(database, { accountId: account.id, month: utcMonth(now), now }));
}

/** Returns the refusal of new work at this spending; null while it is below the account's cap. */
export function refusalOver(account: Account, { spent, running }: Spending): MediaError | null {
  const cap = spendCapOf(account);
  if (spent + running < cap) return null;
  const inProgress = running > 0 ? ` and running work may cost up to ${usd(running)}` : '';
  return new MediaError(
    'spend_cap_reached',
    `This month's usage is ${usd(spent)}${inProgress}; the account's monthly spend cap is ${usd(cap)}. ` +
      `${spent < cap ? 'Wait for the running work, raise' : 'Raise'} the cap, or wait for the next month (UTC).`,
  );
}

/**
 * Returns the refusal of work that reserves `reserveMicroUsd` in the same transaction; null when it is admitted. Holds the
 * lock of the account's reservations until the transaction ends, so the decision is valid among parallel requests.
 */
export async function reservationRefusal(
  { clock }: { readonly clock: Clock },
  tx: Queryable,
  { caller, reserveMicroUsd }: { caller: Spender; reserveMicroUsd: number },
): Promise<MediaError | null> {
  if (!caller.livemode || reserveMicroUsd === 0) return null;
  const [, refusal] = await Promise.all([
    lockReservations(tx, caller.account.id),
    spendCapRefusal({ database: tx, clock }, caller),
  ]);
  return refusal;
}

/** Returns the spend cap in micro-dollars. An account with a payment method and without a plan has that of `payg`. */
export function spendCapOf({ spendCapMicroUsd, plan }: Pick<Account, 'spendCapMicroUsd' | 'plan'>): number {
  return spendCapMicroUsd ?? PLANS[plan].spendCapMicroUsd ?? PLANS.payg.spendCapMicroUsd ?? 0;
}

/** Formats an amount without rounding: micro-dollars have six decimals at most. */
function usd(microUsd: number): string {
  const [whole = '0', decimals = ''] = (microUsd / 1_000_000).toFixed(6).split('.');
  return `$${whole}.${decimals.replace(/0+$/, '').padEnd(2, '0')}`;
}
