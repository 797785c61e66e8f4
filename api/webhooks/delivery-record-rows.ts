/** SQL of webhook deliveries for people: their states, list, resend, deletion of old ones. */
import type { Queryable } from '#api/store/database.ts';
import type { DeliveryState } from '#api/webhooks/delivery-state.ts';
import { shortenUrl } from '#api/webhooks/stored-url.ts';

export interface DeliveryRecord {
  readonly eventId: string;
  readonly accountId: string;
  readonly jobId: string;
  /** null: the job's webhook_url. */
  readonly endpointId: string | null;
  /** URL without the parts that may be secret. */
  readonly shownUrl: string;
  /** Number of attempts begun. */
  readonly attempt: number;
  readonly nextAt: Date;
  readonly createdAt: Date;
  readonly doneAt: Date | null;
  /** null until done; false: dropped. */
  readonly delivered: boolean | null;
  readonly lastStatus: number | null;
  readonly lastError: string | null;
  readonly state: DeliveryState;
}

/** Expression of the `DeliveryState` of a row. A delivery that is queued again after its end keeps its last error. */
export const DELIVERY_STATE = `case when delivered then 'delivered' when not delivered then 'dropped'
  when attempt > 0 and last_error is not null then 'retrying' else 'queued' end`;

const COLUMNS = `id as "eventId", account_id as "accountId", job_id as "jobId", endpoint_id as "endpointId", url, shown_url as "shownUrl", attempt,
  next_at as "nextAt", created_at as "createdAt", done_at as "doneAt", delivered, last_status as "lastStatus",
  last_error as "lastError", ${DELIVERY_STATE} as state`;

/** Row of a delivery. Rows of the previous version have a plain URL and no shortened one. */
interface Row extends Omit<DeliveryRecord, 'shownUrl'> {
  readonly url: string | null;
  readonly shownUrl: string | null;
}

interface DeliveryFilter {
  /** null: of all accounts. */
  readonly accountId: string | null;
  /** Absent: deliveries to any destination. */
  readonly endpointId?: string;
  /** Absent: deliveries in any state. */
  readonly state?: DeliveryState;
  /** Id of a delivery: only older ones. */
  readonly before?: string;
  readonly limit: number;
}

/** Returns deliveries, newest first. */
export async function selectDeliveries(
  db: Queryable,
  { accountId, endpointId, state, before, limit }: DeliveryFilter,
): Promise<readonly DeliveryRecord[]> {
  const { rows } = await db.query<Row>(
    `select ${COLUMNS} from webhook_deliveries
     where ($1::text is null or account_id = $1) and ($4::text is null or endpoint_id = $4)
       and ($2::text is null or ${DELIVERY_STATE} = $2)
       and ($5::text is null or (created_at, id) < (select created_at, id from webhook_deliveries where id = $5))
     order by created_at desc, id desc limit $3`,
    [accountId, state ?? null, limit, endpointId ?? null, before ?? null],
  );
  return rows.map((row) => withShownUrl(row));
}

/** Returns the deliveries of a job's event. */
export async function selectDeliveriesOfJob(
  db: Queryable,
  { accountId, jobId }: { accountId: string; jobId: string },
): Promise<readonly DeliveryRecord[]> {
  const { rows } = await db.query<Row>(
    `select ${COLUMNS} from webhook_deliveries where job_id = $2 and account_id = $1 order by id`,
    [accountId, jobId],
  );
  return rows.map((row) => withShownUrl(row));
}

export async function findDelivery(db: Queryable, eventId: string): Promise<DeliveryRecord | null> {
  const { rows } = await db.query<Row>(`select ${COLUMNS} from webhook_deliveries where id = $1`, [eventId]);
  return rows[0] === undefined ? null : withShownUrl(rows[0]);
}

/** Returns at most `most` bytes of a delivery's body from its start, and its size in bytes. */
export async function findDeliveryBody(
  db: Queryable,
  eventId: string,
  most: number,
): Promise<{ readonly start: Buffer; readonly size: number } | null> {
  return db.findRow<{ start: Buffer; size: number }>(
    'select substring(body for $2) as start, length(body) as size from webhook_deliveries where id = $1',
    [eventId, most],
  );
}

/**
 * Queues a done delivery again: due at `at` with all attempts left and the same id, body, URL and secret. Returns null
 * when it is missing or not done.
 */
export async function requeueDelivery(tx: Queryable, eventId: string, at: Date): Promise<DeliveryRecord | null> {
  const { rows } = await tx.query<Row>(
    `update webhook_deliveries set attempt = 0, next_at = $2, lease_until = null, done_at = null, delivered = null
     where id = $1 and done_at is not null returning ${COLUMNS}`,
    [eventId, at],
  );
  return rows[0] === undefined ? null : withShownUrl(rows[0]);
}

/** Makes a queued delivery due at `at`. Returns null when it is missing, done or being sent. */
export async function setDueNow(tx: Queryable, eventId: string, at: Date): Promise<DeliveryRecord | null> {
  const { rows } = await tx.query<Row>(
    `update webhook_deliveries set next_at = least(next_at, $2)
     where id = $1 and done_at is null and (lease_until is null or lease_until <= $2) returning ${COLUMNS}`,
    [eventId, at],
  );
  return rows[0] === undefined ? null : withShownUrl(rows[0]);
}

/** Queues the dropped deliveries of an endpoint again, the oldest `limit`, as `requeueDelivery` does. */
export async function requeueDropped(
  tx: Queryable,
  { accountId, endpointId, at, limit }: { accountId: string; endpointId: string; at: Date; limit: number },
): Promise<readonly DeliveryRecord[]> {
  const { rows } = await tx.query<Row>(
    `update webhook_deliveries set attempt = 0, next_at = $3, lease_until = null, done_at = null, delivered = null
     where id in (
       select id from webhook_deliveries where account_id = $1 and endpoint_id = $2 and delivered = false
       order by created_at, id limit $4
     ) returning ${COLUMNS}`,
    [accountId, endpointId, at, limit],
  );
  return rows.map((row) => withShownUrl(row));
}

/** Deletes deliveries that ended by `before`, at most `limit`. Returns their number. */
export async function forgetDeliveries(db: Queryable, before: Date, limit: number): Promise<number> {
  return db.countChanged(
    'delete from webhook_deliveries where id in (select id from webhook_deliveries where done_at <= $1 limit $2)',
    [before, limit],
  );
}

function withShownUrl({ url, shownUrl, ...row }: Row): DeliveryRecord {
  return { ...row, shownUrl: shownUrl ?? shortenUrl(url ?? '') };
}
