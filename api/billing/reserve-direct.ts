/**
 * Reservation of a direct request: from admission to end the request counts against the spend cap with its maximum
 * cost. It is a lease in PostgreSQL, so that all processes see it and that of a killed process expires. See
 * docs/reference/estimate-and-usage.md#monthly-spend-cap.
 */
import { deleteReservation, insertReservation, renewReservation } from '#api/billing/direct-reservation-rows.ts';
import { reservationRefusal, type Spender } from '#api/billing/spend-cap.ts';
import type { Database } from '#api/store/database.ts';
import type { Clock } from '#crds/process/clock.ts';
import type { Log } from '#crds/process/log.ts';

interface ReserveDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn'>;
}

const LEASE_MS = 60_000;
const RENEW_EVERY_MS = 20_000;

/**
 * Reserves the largest cost of a request. Returns the function that ends the reservation, to be called once the request
 * has ended and is charged; it never rejects. Test keys reserve nothing.
 * @throws MediaError spend_cap_reached
 */
export async function reserveDirect(
  deps: ReserveDeps,
  { caller, requestId, microUsd }: { caller: Spender; requestId: string; microUsd: number },
): Promise<() => Promise<void>> {
  const accountId = caller.account.id;
  if (!caller.livemode || microUsd === 0) return async () => undefined;
  await deps.database.transaction(async (tx) => {
    const refusal = await reservationRefusal(deps, tx, { caller, reserveMicroUsd: microUsd });
    if (refusal !== null) throw refusal;
    await insertReservation(tx, { requestId, accountId, microUsd, leaseUntil: leaseFrom(deps) });
  });
  return hold(deps, requestId);
}

/** Renews the lease until the returned function deletes it. If the deletion fails, the lease expires. */
function hold(deps: ReserveDeps, requestId: string): () => Promise<void> {
  const { database, log } = deps;
  const warn = (error: unknown): void =>
    log.warn({ err: error, request_id: requestId }, 'updating a reservation failed');
  const timer = setInterval(() => {
    renewReservation(database, requestId, leaseFrom(deps)).catch(warn);
  }, RENEW_EVERY_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
    return deleteReservation(database, requestId).catch(warn);
  };
}

function leaseFrom({ clock }: ReserveDeps): Date {
  return new Date(clock.now().getTime() + LEASE_MS);
}
