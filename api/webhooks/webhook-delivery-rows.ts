/**
 * SQL of webhook deliveries.
 *
 *   queued ──claim: attempt + 1, lease──→ in flight ──2xx──→ done, delivered
 *     ↑                                      │
 *     ├── failed before the 8th: next_at ────┤
 *     ├── lease expired (process died) ──────┴── 8th attempt failed or lost ──→ done, dropped
 *     └── the operator resends a done one: attempt 0 (delivery-record-rows.ts)
 *
 * A claimed attempt counts even when its outcome is never recorded.
 */
import type { Queryable } from '#api/store/database.ts';
import { plainUrlUntilEnd } from '#api/webhooks/plain-url-rows.ts';
import type { NewUrl, StoredUrl } from '#api/webhooks/stored-url.ts';

export interface NewDelivery {
  readonly eventId: string;
  readonly accountId: string;
  readonly jobId: string;
  /** null: the job's webhook_url. */
  readonly endpointId: string | null;
  /** `plainUrl` null: it is not known. */
  readonly url: Omit<NewUrl, 'plainUrl'> & { readonly plainUrl: string | null };
  readonly sealedSecret: Buffer;
  readonly body: Buffer;
  readonly createdAt: Date;
}

/** Delivery with a claimed attempt. */
export interface ClaimedDelivery extends StoredUrl {
  readonly eventId: string;
  readonly jobId: string;
  readonly sealedSecret: Buffer;
  readonly body: Buffer;
  /** 1 to 8. */
  readonly attempt: number;
}

/** Inserts a delivery that is due at once. Changes nothing when the job's event to this destination exists. */
export async function insertDelivery(tx: Queryable, delivery: NewDelivery): Promise<void> {
  await tx.query(
    `insert into webhook_deliveries
       (id, account_id, job_id, endpoint_id, url, secret, body, next_at, created_at, sealed_url, shown_url)
     values ($1, $2, $3, $4, ${plainUrlUntilEnd('$5', '$8')}, $6, $7, $8, $8, $9, $10)
     on conflict (job_id, endpoint_id, url) do nothing`,
    [
      delivery.eventId,
      delivery.accountId,
      delivery.jobId,
      delivery.endpointId,
      delivery.url.plainUrl,
      delivery.sealedSecret,
      delivery.body,
      delivery.createdAt,
      delivery.url.sealedUrl,
      delivery.url.shownUrl,
    ],
  );
}

/** Key of the advisory lock of claims; no other lock of this service uses it. */
const CLAIM_LOCK = 5_604_119_021;

interface DeliveryClaim {
  readonly now: Date;
  readonly leaseUntil: Date;
  readonly limit: number;
  /** Maximum number of deliveries in flight to one host, in all processes together. */
  readonly perHost: number;
  /** Maximum number of deliveries of one account in flight, in all processes together. */
  readonly perAccount: number;
  readonly attempts: number;
}

/**
 * Claims due deliveries for one attempt each, an account's longest due first. `host.` counts as `host`. Free slots of a
 * host and of the process are given to the accounts with the fewest deliveries in flight there. Accounts with as many
 * are in a random order that changes with `now`: by age, the account with the oldest backlog would always be first.
 * Deliveries to a host without a free slot are left out before accounts are ranked, so that they do not use the share of
 * their account. Needs a transaction, because claims wait for each other. Rows are limited before they are joined: when
 * thousands arrive at once, the planner's statistics still say that the table is empty.
 */
export async function claimDeliveries(tx: Queryable, claim: DeliveryClaim): Promise<readonly ClaimedDelivery[]> {
  await tx.query('select pg_advisory_xact_lock($1)', [CLAIM_LOCK]);
  return tx.selectRows<ClaimedDelivery>(
    `with due as (
       select id, account_id, next_at, attempt, coalesce(lease_until > $1, false) as in_flight,
         regexp_replace(split_part(coalesce(shown_url, url), '/', 3), '[.](:|$)', '\\1') as host,
         hashtextextended(account_id, (extract(epoch from $1::timestamptz) * 1000)::bigint) as account_order
       from webhook_deliveries where done_at is null and next_at <= $1
     ), of_hosts as (
       select id, account_id, next_at, in_flight, host, account_order,
         $4 - count(*) filter (where in_flight) over (partition by host) as free_on_host,
         row_number() over (partition by host, account_id order by in_flight desc, next_at, id) as rank_on_host
       from due where in_flight or attempt < $5
     ), of_accounts as (
       select *, row_number() over (partition by account_id order by in_flight desc, next_at, id) as rank_in_account
       from of_hosts where in_flight or (free_on_host > 0 and rank_on_host <= $4)
     ), ranked as (
       select id, next_at, account_order, rank_in_account, free_on_host,
         row_number() over (partition by host order by rank_on_host, account_order, next_at, id) as rank
       from of_accounts where not in_flight and rank_in_account <= $6
     ), picked as (
       select id from ranked where rank <= free_on_host order by rank_in_account, account_order, next_at, id limit $3
     ), chosen as (
       select id from webhook_deliveries where id = any (array (select id from picked))
         and done_at is null and (lease_until is null or lease_until <= $1)
       for update skip locked
     )
     update webhook_deliveries as delivery set attempt = delivery.attempt + 1, lease_until = $2
     from chosen where delivery.id = chosen.id
     returning delivery.id as "eventId", delivery.job_id as "jobId", delivery.url as "plainUrl",
       delivery.sealed_url as "sealedUrl", delivery.secret as "sealedSecret", delivery.body, delivery.attempt`,
    [claim.now, claim.leaseUntil, claim.limit, claim.perHost, claim.attempts, claim.perAccount],
  );
}

/** Drops deliveries whose last attempt was lost. Returns their number. */
export async function dropLostDeliveries(
  db: Queryable,
  { now, attempts }: { now: Date; attempts: number },
): Promise<number> {
  return db.countChanged(
    `update webhook_deliveries set done_at = $1, delivered = false, lease_until = null,
       last_status = null, last_error = 'the process ended before the response arrived'
     where done_at is null and next_at <= $1 and attempt >= $2 and lease_until <= $1`,
    [now, attempts],
  );
}

/** Records a success. Returns false when the attempt is no longer the current one, because its lease expired. */
export async function markDelivered(
  db: Queryable,
  attempt: { eventId: string; attempt: number; at: Date; status: number },
): Promise<boolean> {
  return db.changesRow(
    `update webhook_deliveries set done_at = $3, delivered = true, lease_until = null, last_status = $4, last_error = null
     where id = $1 and attempt = $2 and done_at is null`,
    [attempt.eventId, attempt.attempt, attempt.at, attempt.status],
  );
}

/** Records a failure; `nextAt` null drops the delivery. Returns false when the attempt is no longer the current one. */
export async function markFailed(
  db: Queryable,
  attempt: { eventId: string; attempt: number; at: Date; status: number | null; error: string; nextAt: Date | null },
): Promise<boolean> {
  return db.changesRow(
    `update webhook_deliveries set lease_until = null, last_status = $4, last_error = $5,
       next_at = coalesce($6, next_at),
       done_at = case when $6::timestamptz is null then $3::timestamptz end,
       delivered = case when $6::timestamptz is null then false end
     where id = $1 and attempt = $2 and done_at is null`,
    [attempt.eventId, attempt.attempt, attempt.at, attempt.status, attempt.error, attempt.nextAt],
  );
}

/** Returns the context of the request that created a job; null when it was not traced. */
export async function selectTraceparent(db: Queryable, jobId: string): Promise<string | null> {
  const job = await db.findRow<{ traceparent: string | null }>('select traceparent from jobs where id = $1', [jobId]);
  return job?.traceparent ?? null;
}

/** Returns the due time of the longest waiting delivery; null when none is due. */
export async function oldestDueDelivery(db: Queryable, now: Date): Promise<Date | null> {
  const { rows } = await db.query<{ at: Date | null }>(
    'select min(next_at) as at from webhook_deliveries where done_at is null and next_at <= $1 and (lease_until is null or lease_until <= $1)',
    [now],
  );
  return rows[0]?.at ?? null;
}
