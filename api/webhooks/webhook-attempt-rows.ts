/** SQL of the attempts of a webhook delivery, those before a resend included. They are deleted with the delivery. */
import type { Queryable } from '#api/store/database.ts';

export interface WebhookAttempt {
  /** Time of the request. */
  readonly at: Date;
  /** null: there was no response. */
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

/** Returns the attempts of a delivery, oldest first. */
export async function selectAttempts(db: Queryable, eventId: string): Promise<readonly WebhookAttempt[]> {
  return db.selectRows<WebhookAttempt>(
    'select at, status, error, duration_ms as "durationMs" from webhook_attempts where event_id = $1 order by at',
    [eventId],
  );
}
