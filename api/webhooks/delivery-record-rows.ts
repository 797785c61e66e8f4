/** SQL of webhook deliveries as operators see them: which there are, sending one again, forgetting old ones. */
import type { Queryable } from '#api/store/database.ts';

export interface DeliveryRecord {
  readonly eventId: string;
  readonly accountId: string;
  readonly jobId: string;
  /** null: the job's webhook_url. */
  readonly endpointId: string | null;
  readonly url: string;
  /** Attempts begun. */
  readonly attempt: number;
  readonly nextAt: Date;
  readonly createdAt: Date;
  readonly doneAt: Date | null;
  /** null until done; false: dropped. */
  readonly delivered: boolean | null;
  readonly lastStatus: number | null;
  readonly lastError: string | null;
}

const COLUMNS = `id as "eventId", account_id as "accountId", job_id as "jobId", endpoint_id as "endpointId", url, attempt,
  next_at as "nextAt", created_at as "createdAt", done_at as "doneAt", delivered, last_status as "lastStatus",
  last_error as "lastError"`;

interface DeliveryFilter {
  /** null: of all accounts. */
  readonly accountId: string | null;
  /** Absent: whatever they are sent to. */
  readonly endpointId?: string;
  /** Those that were dropped. */
  readonly onlyDead: boolean;
  readonly limit: number;
}

/** Newest first. */
export async function selectDeliveries(
  db: Queryable,
  { accountId, endpointId, onlyDead, limit }: DeliveryFilter,
): Promise<readonly DeliveryRecord[]> {
  const { rows } = await db.query<DeliveryRecord>(
    `select ${COLUMNS} from webhook_deliveries
     where ($1::text is null or account_id = $1) and (not $2::boolean or delivered = false)
       and ($4::text is null or endpoint_id = $4)
     order by created_at desc, id desc limit $3`,
    [accountId, onlyDead, limit, endpointId ?? null],
  );
  return rows;
}

export async function findDelivery(db: Queryable, eventId: string): Promise<DeliveryRecord | null> {
  const { rows } = await db.query<DeliveryRecord>(`select ${COLUMNS} from webhook_deliveries where id = $1`, [eventId]);
  return rows[0] ?? null;
}

/** The first bytes of what is sent, and how many there are. */
export async function findDeliveryBody(
  db: Queryable,
  eventId: string,
  most: number,
): Promise<{ readonly start: Buffer; readonly size: number } | null> {
  const { rows } = await db.query<{ start: Buffer; size: number }>(
    'select substring(body for $2) as start, length(body) as size from webhook_deliveries where id = $1',
    [eventId, most],
  );
  return rows[0] ?? null;
}

/** Due at `at`, with all its attempts before it: same id, body, URL and secret. null when it is not there or not done. */
export async function queueDeliveryAgain(tx: Queryable, eventId: string, at: Date): Promise<DeliveryRecord | null> {
  const { rows } = await tx.query<DeliveryRecord>(
    `update webhook_deliveries set attempt = 0, next_at = $2, lease_until = null, done_at = null, delivered = null
     where id = $1 and done_at is not null returning ${COLUMNS}`,
    [eventId, at],
  );
  return rows[0] ?? null;
}

/** Gives how many that ended by then were forgotten, `limit` at most. */
export async function forgetDeliveries(db: Queryable, before: Date, limit: number): Promise<number> {
  const { rowCount } = await db.query(
    'delete from webhook_deliveries where id in (select id from webhook_deliveries where done_at <= $1 limit $2)',
    [before, limit],
  );
  return rowCount;
}
