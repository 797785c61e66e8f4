/** SQL of the attempts behind a webhook delivery, those before it was sent again too. They go with it. */
import type { Queryable } from '#api/store/database.ts';

export interface WebhookAttempt {
  /** When it was sent. */
  readonly at: Date;
  /** null: no answer came. */
  readonly status: number | null;
  /** null: delivered. */
  readonly error: string | null;
  readonly durationMs: number;
}

export async function insertAttempt(db: Queryable, eventId: string, attempt: WebhookAttempt): Promise<void> {
  await db.query(
    `insert into webhook_attempts (event_id, at, status, error, duration_ms)
     select id, $2, $3, $4, $5 from webhook_deliveries where id = $1`,
    [eventId, attempt.at, attempt.status, attempt.error, attempt.durationMs],
  );
}

/** Oldest first. */
export async function selectAttempts(db: Queryable, eventId: string): Promise<readonly WebhookAttempt[]> {
  const { rows } = await db.query<WebhookAttempt>(
    'select at, status, error, duration_ms as "durationMs" from webhook_attempts where event_id = $1 order by at',
    [eventId],
  );
  return rows;
}
