/**
 * Reservation of a direct request: from admission to end the request counts against the spend cap with its maximum
 * cost. It is a lease in PostgreSQL, so that all processes see it and that of a killed process expires. See
 * docs/reference/estimate-and-usage.md#monthly-spend-cap.
 */
import { utcMonth } from '#api/billing/calendar.ts';
import {
  deleteReservation,
  insertReservation,
  lockReservations,
  renewReservation,
} from '#api/billing/direct-reservation-rows.ts';
import { refusalOver, spendCapOf, type Spender } from '#api/billing/spend-cap.ts';
import type { Database, Queryable } from '#api/store/database.ts';
import { throwIfRefused } from '#crds/contract/media-error.ts';
import type { Clock } from '#crds/process/clock.ts';
import type { Log } from '#crds/process/log.ts';

interface ReserveDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn'>;
}

const LEASE_MS = 60_000;
const RENEW_EVERY_MS = 20_000;

/** Reservation of one direct request. */
export interface DirectReservation {
  /**
   * Runs the transaction that charges the request. The reservation ends with it, in the same commit, which is sent when
   * the work calls `onLastChange`: no change may follow.
   */
  charge<T>(work: (tx: Queryable, onLastChange: () => void) => Promise<T>): Promise<T>;
  /** Ends the reservation of a request that was not charged, else does nothing. Never rejects. */
  release(): Promise<void>;
}

/**
 * Reserves the largest cost of a request until it is charged or released. Test keys reserve nothing.
 * @throws MediaError spend_cap_reached
 */
export async function reserveDirect(
  deps: ReserveDeps,
  { caller, requestId, microUsd }: { caller: Spender; requestId: string; microUsd: number },
): Promise<DirectReservation> {
  const accountId = caller.account.id;
  if (!caller.livemode || microUsd === 0) {
    return {
      charge: (work) => deps.database.transaction((tx) => work(tx, () => tx.commitNow()), { repeatable: true }),
      release: async () => undefined,
    };
  }
  const now = deps.clock.now();
  const limit = { month: utcMonth(now), now, capMicroUsd: spendCapOf(caller.account) };
  const before = await deps.database.transaction(async (tx) => {
    const locked = lockReservations(tx, accountId);
    const inserted = insertReservation(tx, { requestId, accountId, microUsd, leaseUntil: leaseFrom(deps) }, limit);
    tx.commitNow();
    const [, spending] = await Promise.all([locked, inserted]);
    return spending;
  });
  throwIfRefused(refusalOver(caller.account, before));
  return new HeldReservation(deps, requestId);
}

/** A reservation whose lease is renewed until it ends. If its deletion fails, the lease expires. */
class HeldReservation implements DirectReservation {
  readonly #deps: ReserveDeps;
  readonly #requestId: string;
  readonly #timer: NodeJS.Timeout;
  #isCharged = false;

  constructor(deps: ReserveDeps, requestId: string) {
    this.#deps = deps;
    this.#requestId = requestId;
    this.#timer = setInterval(() => {
      renewReservation(deps.database, requestId, leaseFrom(deps)).catch((error: unknown) => this.#warn(error));
    }, RENEW_EVERY_MS);
    this.#timer.unref();
  }

  async charge<T>(work: (tx: Queryable, onLastChange: () => void) => Promise<T>): Promise<T> {
    const charged = await this.#deps.database.transaction(
      async (tx) => {
        let deleted: Promise<void> | null = null;
        const end = (): Promise<void> => {
          deleted ??= deleteReservation(tx, this.#requestId);
          tx.commitNow();
          return deleted;
        };
        // A deletion that fails with the work's own statement is ignored: the error of the work is thrown.
        const result = await work(tx, () => void end().catch(() => undefined));
        await end();
        return result;
      },
      { repeatable: true },
    );
    this.#isCharged = true;
    return charged;
  }

  async release(): Promise<void> {
    clearInterval(this.#timer);
    if (this.#isCharged) return;
    await deleteReservation(this.#deps.database, this.#requestId).catch((error: unknown) => this.#warn(error));
  }

  #warn(error: unknown): void {
    this.#deps.log.warn({ err: error, request_id: this.#requestId }, 'updating a reservation failed');
  }
}

function leaseFrom({ clock }: Pick<ReserveDeps, 'clock'>): Date {
  return new Date(clock.now().getTime() + LEASE_MS);
}
