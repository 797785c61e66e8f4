/**
 * SQL of reservations: the largest cost of each live direct request in flight.
 *
 *   reserved ──renewed while the request runs──┐
 *     ↑────────────────────────────────────────┘
 *     ├── the request has ended and is charged: deleted
 *     └── its process was killed: the lease expires, and the row no longer counts
 */
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

export async function insertReservation(tx: Queryable, reservation: Reservation): Promise<void> {
  const { requestId, accountId, microUsd, leaseUntil } = reservation;
  await tx.query(
    'insert into direct_reservations (request_id, account_id, micro_usd, lease_until) values ($1, $2, $3, $4)',
    [requestId, accountId, microUsd, leaseUntil],
    PREPARED,
  );
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
