/**
 * SQL of reservations: the largest cost of each live direct request in flight.
 *
 *   reserved ──renewed while the request runs──┐
 *     ↑────────────────────────────────────────┘
 *     ├── the request has ended and is charged: deleted
 *     └── its process was killed: the lease expires, and the row no longer counts
 */
import { SPENDING, type Spending } from '#api/billing/ledger-rows.ts';
import { PREPARED, type Queryable } from '#api/store/database.ts';

interface Reservation {
  /** `req_…`. */
  readonly requestId: string;
  readonly accountId: string;
  readonly microUsd: number;
  readonly leaseUntil: Date;
}

/**
 * Locks the account's reservations until the transaction ends. Jobs and direct requests that compare with the spend cap
 * and then reserve do so one after the other.
 */
export async function lockReservations(tx: Queryable, accountId: string): Promise<void> {
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`reservations:${accountId}`], PREPARED);
}

interface SpendingLimit {
  readonly month: string;
  readonly now: Date;
  readonly capMicroUsd: number;
}

/** Inserts the reservation if the account's spending is below the cap. Returns the spending before, in micro-dollars. */
export async function insertReservation(
  tx: Queryable,
  { requestId, accountId, microUsd, leaseUntil }: Reservation,
  { month, now, capMicroUsd }: SpendingLimit,
): Promise<Spending> {
  const { rows } = await tx.query<Spending>(
    `with spending as materialized (select ${SPENDING}),
       reserved as (insert into direct_reservations (account_id, request_id, micro_usd, lease_until)
         select $1, $4, $5, $6 from spending where spent + running < $7)
     select spent, running from spending`,
    [accountId, month, now, requestId, microUsd, leaseUntil, capMicroUsd],
    PREPARED,
  );
  return rows[0] as Spending;
}

export async function renewReservation(db: Queryable, requestId: string, leaseUntil: Date): Promise<void> {
  await db.query('update direct_reservations set lease_until = $2 where request_id = $1', [requestId, leaseUntil]);
}

export async function deleteReservation(db: Queryable, requestId: string): Promise<void> {
  await db.query('delete from direct_reservations where request_id = $1', [requestId], PREPARED);
}

/** Deletes reservations with a lease that expired before `before`. */
export async function forgetReservations(db: Queryable, before: Date): Promise<void> {
  await db.query('delete from direct_reservations where lease_until < $1', [before]);
}
