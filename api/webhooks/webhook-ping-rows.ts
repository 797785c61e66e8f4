/**
 * SQL of pings.
 *
 *   waiting ──a courier claims it, once──→ claimed ──sent or failed──→ done
 *      └──no courier claims it in time: withdrawn──→ deleted
 *
 * A ping is sent once: if its courier dies, it stays claimed and is never sent again.
 */
import type { Queryable } from '#api/store/database.ts';
import { plainUrlUntilEnd } from '#api/webhooks/plain-url-rows.ts';
import type { NewUrl, StoredUrl } from '#api/webhooks/stored-url.ts';

export interface NewPing {
  readonly eventId: string;
  readonly accountId: string;
  readonly url: NewUrl;
  readonly sealedSecret: Buffer;
  readonly livemode: boolean;
  readonly createdAt: Date;
}

export type ClaimedPing = Pick<NewPing, 'eventId' | 'sealedSecret' | 'livemode'> & StoredUrl;

export interface PingOutcome {
  readonly delivered: boolean;
  /** 0 when no response arrived. */
  readonly status: number;
  readonly durationMs: number;
}

/**
 * Inserts the ping. Returns false when the account has `most` unfinished pings newer than `since`. The caller holds the
 * account's lock.
 */
export async function insertPing(tx: Queryable, ping: NewPing, under: { most: number; since: Date }): Promise<boolean> {
  return tx.changesRow(
    `insert into webhook_pings (id, account_id, url, secret, livemode, created_at, sealed_url)
     select $1, $2, ${plainUrlUntilEnd('$3', '$6')}, $4, $5, $6, $9
     where (select count(*) from webhook_pings where account_id = $2 and done_at is null and created_at > $8) < $7`,
    [
      ping.eventId,
      ping.accountId,
      ping.url.plainUrl,
      ping.sealedSecret,
      ping.livemode,
      ping.createdAt,
      under.most,
      under.since,
      ping.url.sealedUrl,
    ],
  );
}

/** Claims waiting pings that are newer than `since`, oldest first. */
export async function claimPings(
  db: Queryable,
  claim: { now: Date; since: Date; limit: number },
): Promise<readonly ClaimedPing[]> {
  return db.selectRows<ClaimedPing>(
    `update webhook_pings set taken_at = $1
     where id in (
       select id from webhook_pings where taken_at is null and created_at > $2 order by created_at limit $3 for update skip locked
     )
     returning id as "eventId", url as "plainUrl", sealed_url as "sealedUrl", secret as "sealedSecret", livemode`,
    [claim.now, claim.since, claim.limit],
  );
}

export async function recordPingOutcome(
  db: Queryable,
  ping: PingOutcome & { eventId: string; at: Date },
): Promise<void> {
  await db.query('update webhook_pings set done_at = $2, delivered = $3, status = $4, duration_ms = $5 where id = $1', [
    ping.eventId,
    ping.at,
    ping.delivered,
    ping.status,
    ping.durationMs,
  ]);
}

/** Returns the outcome of a ping; null while it is not done. */
export async function findPingOutcome(db: Queryable, eventId: string): Promise<PingOutcome | null> {
  return db.findRow<PingOutcome>(
    'select delivered, status, duration_ms as "durationMs" from webhook_pings where id = $1 and done_at is not null',
    [eventId],
  );
}

/** Deletes a ping that no courier has claimed. Returns false when one has. */
export async function withdrawPing(db: Queryable, eventId: string): Promise<boolean> {
  return db.changesRow('delete from webhook_pings where id = $1 and taken_at is null', [eventId]);
}

/** Deletes pings that were created by `before`, at most `limit`. Returns their number. */
export async function forgetPings(db: Queryable, before: Date, limit: number): Promise<number> {
  return db.countChanged(
    'delete from webhook_pings where id in (select id from webhook_pings where created_at <= $1 limit $2)',
    [before, limit],
  );
}
