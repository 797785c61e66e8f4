/**
 * SQL of pings.
 *
 *   waiting ──a courier takes it, once──→ taken ──sent or failed──→ done
 *      └──nobody took it in time: withdrawn──→ gone
 *
 * A ping is sent once: one whose courier died stays taken, and is never sent again.
 */
import type { Queryable } from '#api/store/database.ts';

export interface NewPing {
  readonly eventId: string;
  readonly accountId: string;
  readonly url: string;
  readonly sealedSecret: Buffer;
  readonly livemode: boolean;
  readonly createdAt: Date;
}

export type TakenPing = Pick<NewPing, 'eventId' | 'url' | 'sealedSecret' | 'livemode'>;

export interface PingEnd {
  readonly delivered: boolean;
  /** 0 when no answer came. */
  readonly status: number;
  readonly durationMs: number;
}

/** false when the account has `most` under way that are newer than `since`; call it under the account's lock. */
export async function insertPing(tx: Queryable, ping: NewPing, under: { most: number; since: Date }): Promise<boolean> {
  const { rowCount } = await tx.query(
    `insert into webhook_pings (id, account_id, url, secret, livemode, created_at)
     select $1, $2, $3, $4, $5, $6
     where (select count(*) from webhook_pings where account_id = $2 and done_at is null and created_at > $8) < $7`,
    [ping.eventId, ping.accountId, ping.url, ping.sealedSecret, ping.livemode, ping.createdAt, under.most, under.since],
  );
  return rowCount === 1;
}

/** Takes waiting pings that are newer than `since`, the oldest first. */
export async function takePings(
  db: Queryable,
  take: { now: Date; since: Date; limit: number },
): Promise<readonly TakenPing[]> {
  const { rows } = await db.query<TakenPing>(
    `update webhook_pings set taken_at = $1
     where id in (
       select id from webhook_pings where taken_at is null and created_at > $2 order by created_at limit $3 for update skip locked
     )
     returning id as "eventId", url, secret as "sealedSecret", livemode`,
    [take.now, take.since, take.limit],
  );
  return rows;
}

export async function endPing(db: Queryable, ping: PingEnd & { eventId: string; at: Date }): Promise<void> {
  await db.query('update webhook_pings set done_at = $2, delivered = $3, status = $4, duration_ms = $5 where id = $1', [
    ping.eventId,
    ping.at,
    ping.delivered,
    ping.status,
    ping.durationMs,
  ]);
}

/** null while it is not done. */
export async function findPingEnd(db: Queryable, eventId: string): Promise<PingEnd | null> {
  const { rows } = await db.query<PingEnd>(
    'select delivered, status, duration_ms as "durationMs" from webhook_pings where id = $1 and done_at is not null',
    [eventId],
  );
  return rows[0] ?? null;
}

/** true when nobody had taken it: it is never sent. */
export async function withdrawPing(db: Queryable, eventId: string): Promise<boolean> {
  const { rowCount } = await db.query('delete from webhook_pings where id = $1 and taken_at is null', [eventId]);
  return rowCount === 1;
}

/** Gives how many were forgotten, `limit` at most. */
export async function forgetPings(db: Queryable, before: Date, limit: number): Promise<number> {
  const { rowCount } = await db.query(
    'delete from webhook_pings where id in (select id from webhook_pings where created_at <= $1 limit $2)',
    [before, limit],
  );
  return rowCount;
}
