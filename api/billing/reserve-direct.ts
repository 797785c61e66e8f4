/**
 * The reservation of a direct request: from its admission to its end the request counts against the spend
 * cap at the most it can cost. A lease in PostgreSQL, so that all processes see it and a killed one leaves
 * nothing behind. Spec: Monthly spend cap.
 */
import type { Caller } from '#api/accounts/find-caller.ts';
import { deleteReservation, insertReservation, renewReservation } from '#api/billing/direct-reservation-rows.ts';
import { reservationRefusal } from '#api/billing/spend-cap.ts';
import type { Database } from '#api/store/database.ts';
import type { Clock } from '#crds/shared/clock.ts';
import type { Log } from '#crds/shared/log.ts';

interface ReserveDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn'>;
}

const LEASE_MS = 60_000;
const RENEW_EVERY_MS = 20_000;

/**
 * Gives what ends it: to be called once the request has ended and is charged, however it ended; that never
 * rejects. Test keys reserve nothing.
 * @throws MediaError spend_cap_reached
 */
export async function reserveDirect(
  deps: ReserveDeps,
  { caller, requestId, microUsd }: { caller: Caller; requestId: string; microUsd: number },
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

/** Renews it until it is deleted; what cannot be deleted no longer counts when its lease has run out. */
function hold(deps: ReserveDeps, requestId: string): () => Promise<void> {
  const { database, log } = deps;
  const warn = (error: unknown): void => log.warn({ err: error, request_id: requestId }, 'reservation not updated');
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
