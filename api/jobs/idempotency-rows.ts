/** SQL of idempotency keys. */
import { PREPARED, type Queryable } from '#api/store/database.ts';

export interface IdempotencyScope {
  readonly accountId: string;
  readonly livemode: boolean;
  readonly key: string;
}

export interface IdempotencyRow {
  readonly fingerprint: Buffer;
  readonly createdAt: Date;
  readonly leaseUntil: Date;
  /** HTTP status; null until the response is stored. */
  readonly status: number | null;
  readonly body: string | null;
}

interface KeyClaim {
  readonly fingerprint: Buffer;
  readonly now: Date;
  readonly leaseUntil: Date;
  /** Rows created at or before this time have expired. */
  readonly forgottenBefore: Date;
}

/**
 * Claims a key that is free or expired, or whose handler of the same request let its lease expire.
 * Returns whether this call owns the key.
 */
export async function claimKey(db: Queryable, scope: IdempotencyScope, claim: KeyClaim): Promise<boolean> {
  return db.changesRow(
    `insert into idempotency_keys as known (account_id, livemode, key, fingerprint, created_at, lease_until)
     values ($1, $2, $3, $4, $5, $6)
     on conflict (account_id, livemode, key) do update
       set fingerprint = excluded.fingerprint, created_at = excluded.created_at,
           lease_until = excluded.lease_until, status = null, body = null
       where known.created_at <= $7
         or (known.status is null and known.lease_until <= $5 and known.fingerprint = excluded.fingerprint)`,
    [scope.accountId, scope.livemode, scope.key, claim.fingerprint, claim.now, claim.leaseUntil, claim.forgottenBefore],
    PREPARED,
  );
}

/** Returns the stored row of a key; null when there is none. */
export async function findKey(db: Queryable, scope: IdempotencyScope): Promise<IdempotencyRow | null> {
  return db.findRow<IdempotencyRow>(
    `select fingerprint, created_at as "createdAt", lease_until as "leaseUntil", status, body
     from idempotency_keys where account_id = $1 and livemode = $2 and key = $3`,
    [scope.accountId, scope.livemode, scope.key],
  );
}

/** Stores the response for repeated requests. Returns false when another handler owns the key now. */
export async function storeResponse(
  tx: Queryable,
  scope: IdempotencyScope,
  response: { leaseUntil: Date; status: number; body: string },
): Promise<boolean> {
  return tx.changesRow(
    `update idempotency_keys set status = $5, body = $6
     where account_id = $1 and livemode = $2 and key = $3 and lease_until = $4 and status is null`,
    [scope.accountId, scope.livemode, scope.key, response.leaseUntil, response.status, response.body],
    PREPARED,
  );
}

/** Deletes the claim on a key, so that the next request with it is handled as the first one. */
export async function releaseKey(db: Queryable, scope: IdempotencyScope, leaseUntil: Date): Promise<void> {
  await db.query(
    `delete from idempotency_keys
     where account_id = $1 and livemode = $2 and key = $3 and lease_until = $4 and status is null`,
    [scope.accountId, scope.livemode, scope.key, leaseUntil],
  );
}

/** Deletes keys created at or before a time. */
export async function deleteForgottenKeys(db: Queryable, before: Date): Promise<void> {
  await db.query('delete from idempotency_keys where created_at <= $1', [before]);
}
