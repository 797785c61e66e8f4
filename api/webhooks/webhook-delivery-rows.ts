/**
 * SQL of webhook deliveries.
 *
 *   queued ──claim: attempt + 1, lease──→ under way ──2xx──→ done, delivered
 *     ↑                                      │
 *     ├── failed before the 8th: next_at ────┤
 *     ├── lease ran out (process gone) ──────┴── 8th attempt failed or lost ──→ done, dropped
 *     └── the operator sends a done one again: attempt 0 (delivery-record-rows.ts)
 *
 * A claimed attempt counts even when nobody reports its end.
 */
import type { Queryable } from '#api/store/database.ts';

export interface NewDelivery {
  readonly eventId: string;
  readonly accountId: string;
  readonly jobId: string;
  /** null: the job's webhook_url. */
  readonly endpointId: string | null;
  readonly url: string;
  readonly sealedSecret: Buffer;
  readonly body: Buffer;
  readonly createdAt: Date;
}

/** One attempt to make now. */
export interface ClaimedDelivery {
  readonly eventId: string;
  readonly url: string;
  readonly sealedSecret: Buffer;
  readonly body: Buffer;
  /** 1 to 8. */
  readonly attempt: number;
}

/** Due at once. A job's event to a destination that has it already changes nothing. */
export async function insertDelivery(tx: Queryable, delivery: NewDelivery): Promise<void> {
  await tx.query(
    `insert into webhook_deliveries (id, account_id, job_id, endpoint_id, url, secret, body, next_at, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $8) on conflict (job_id, endpoint_id, url) do nothing`,
    [
      delivery.eventId,
      delivery.accountId,
      delivery.jobId,
      delivery.endpointId,
      delivery.url,
      delivery.sealedSecret,
      delivery.body,
      delivery.createdAt,
    ],
  );
}

/** Any number that no other lock of ours uses. */
const CLAIM_LOCK = 5_604_119_021;

/**
 * Takes due deliveries for one attempt each, the longest due first, so that no host has more than
 * `perHost` under way in all processes together. Call it in a transaction: claims wait for each other.
 * Nothing is joined before it is limited: when many thousands begin to wait at once, the database still plans for none.
 */
export async function claimDeliveries(
  tx: Queryable,
  claim: { now: Date; leaseUntil: Date; limit: number; perHost: number; attempts: number },
): Promise<readonly ClaimedDelivery[]> {
  await tx.query('select pg_advisory_xact_lock($1)', [CLAIM_LOCK]);
  const { rows } = await tx.query<ClaimedDelivery>(
    `with open as (
       select id, next_at, attempt, split_part(url, '/', 3) as host, coalesce(lease_until > $1, false) as is_under_way
       from webhook_deliveries where done_at is null and next_at <= $1
     ), placed as (
       select id, next_at, is_under_way,
         row_number() over (partition by host order by is_under_way desc, next_at, id) as place
       from open where is_under_way or attempt < $5
     ), picked as (
       select id from placed where not is_under_way and place <= $4 order by next_at, id limit $3
     ), chosen as (
       select id from webhook_deliveries where id = any (array (select id from picked))
         and done_at is null and (lease_until is null or lease_until <= $1)
       for update skip locked
     )
     update webhook_deliveries as delivery set attempt = delivery.attempt + 1, lease_until = $2
     from chosen where delivery.id = chosen.id
     returning delivery.id as "eventId", delivery.url, delivery.secret as "sealedSecret", delivery.body, delivery.attempt`,
    [claim.now, claim.leaseUntil, claim.limit, claim.perHost, claim.attempts],
  );
  return rows;
}

/** Drops deliveries whose last attempt was begun and never reported; gives how many. */
export async function dropLostDeliveries(
  db: Queryable,
  { now, attempts }: { now: Date; attempts: number },
): Promise<number> {
  const { rowCount } = await db.query(
    `update webhook_deliveries set done_at = $1, delivered = false, lease_until = null,
       last_status = null, last_error = 'the process ended before the answer came'
     where done_at is null and next_at <= $1 and attempt >= $2 and lease_until <= $1`,
    [now, attempts],
  );
  return rowCount;
}

/** false: the attempt is no longer the current one; its lease had run out. */
export async function markDelivered(
  db: Queryable,
  attempt: { eventId: string; attempt: number; at: Date; status: number },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update webhook_deliveries set done_at = $3, delivered = true, lease_until = null, last_status = $4, last_error = null
     where id = $1 and attempt = $2 and done_at is null`,
    [attempt.eventId, attempt.attempt, attempt.at, attempt.status],
  );
  return rowCount === 1;
}

/** `nextAt` null: the delivery is dropped. false as in `markDelivered`. */
export async function markFailed(
  db: Queryable,
  attempt: { eventId: string; attempt: number; at: Date; status: number | null; error: string; nextAt: Date | null },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update webhook_deliveries set lease_until = null, last_status = $4, last_error = $5,
       next_at = coalesce($6, next_at),
       done_at = case when $6::timestamptz is null then $3::timestamptz end,
       delivered = case when $6::timestamptz is null then false end
     where id = $1 and attempt = $2 and done_at is null`,
    [attempt.eventId, attempt.attempt, attempt.at, attempt.status, attempt.error, attempt.nextAt],
  );
  return rowCount === 1;
}

/** When the longest waiting delivery was due; null when none is due. */
export async function oldestDueDelivery(db: Queryable, now: Date): Promise<Date | null> {
  const { rows } = await db.query<{ at: Date | null }>(
    'select min(next_at) as at from webhook_deliveries where done_at is null and next_at <= $1',
    [now],
  );
  return rows[0]?.at ?? null;
}
