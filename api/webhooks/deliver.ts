/**
 * Sends queued webhook deliveries (their life: webhook-delivery-rows.ts). An attempt is claimed with a
 * lease in one transaction, sent outside of any, and its end recorded in another; when this process dies
 * in between, the lease runs out and the same event is sent again. A slow host holds at most
 * `PER_HOST` of the places, so it delays nobody else.
 */
import type { Database } from '#api/store/database.ts';
import type { SecretBox } from '#api/store/secret-box.ts';
import type { DeliveryMetrics } from '#api/webhooks/delivery-metrics.ts';
import { ATTEMPTS, nextAttemptAt } from '#api/webhooks/schedule.ts';
import { sendEvent, type SendDeps, type SendOutcome } from '#api/webhooks/send-event.ts';
import { insertAttempt } from '#api/webhooks/webhook-attempt-rows.ts';
import {
  claimDeliveries,
  dropLostDeliveries,
  markDelivered,
  markFailed,
  type ClaimedDelivery,
} from '#api/webhooks/webhook-delivery-rows.ts';
import { secretContext } from '#api/webhooks/webhook-secret.ts';
import { faultPoint } from '#crds/shared/fault-point.ts';
import type { Log } from '#crds/shared/log.ts';

export interface DeliverDeps extends SendDeps {
  readonly database: Database;
  readonly secretBox: SecretBox;
  readonly metrics: DeliveryMetrics;
  readonly log: Log;
}

/** Deliveries under way at once: in this process, and to one host in all processes. */
export const AT_ONCE = 100;
const PER_HOST = 4;
/** Well over the 10 seconds of an attempt. */
const LEASE_MS = 30_000;

/** Takes due deliveries for as many places as are free; each still has to be sent. */
export async function claimDueDeliveries(
  { database, clock, metrics }: DeliverDeps,
  freePlaces: number,
): Promise<readonly ClaimedDelivery[]> {
  const now = clock.now();
  const dropped = await dropLostDeliveries(database, { now, attempts: ATTEMPTS });
  metrics.ended('dropped', dropped);
  const leaseUntil = new Date(now.getTime() + LEASE_MS);
  return database.transaction((tx) =>
    claimDeliveries(tx, { now, leaseUntil, limit: freePlaces, perHost: PER_HOST, attempts: ATTEMPTS }),
  );
}

/** Makes one claimed attempt and records its end. */
export async function deliver(deps: DeliverDeps, delivery: ClaimedDelivery, signal?: AbortSignal): Promise<void> {
  const { eventId, attempt } = delivery;
  const secret = deps.secretBox.open(delivery.sealedSecret, secretContext.delivery(eventId));
  await faultPoint('before-webhook-post');
  const at = deps.clock.now();
  const outcome = await sendEvent(deps, { ...delivery, secret, ...(signal === undefined ? {} : { signal }) });
  await faultPoint('after-webhook-answer');
  // Stopped by us: the lease runs out and the next process sends it again.
  if (signal?.aborted === true && !outcome.delivered) return;
  const durationMs = Math.max(0, deps.clock.now().getTime() - at.getTime());
  const error = outcome.delivered ? null : outcome.error;
  await insertAttempt(deps.database, eventId, { at, status: outcome.status, error, durationMs });
  const isCurrent = await record(deps, delivery, outcome);
  const { status } = outcome;
  deps.log.info(
    {
      event_id: eventId,
      attempt,
      host: hostOf(delivery.url),
      status,
      delivered: outcome.delivered,
      is_current: isCurrent,
    },
    'webhook sent',
  );
}

async function record(
  { database, clock, metrics }: DeliverDeps,
  { eventId, attempt }: ClaimedDelivery,
  outcome: SendOutcome,
): Promise<boolean> {
  const at = clock.now();
  if (outcome.delivered) {
    metrics.ended('delivered', 1);
    return markDelivered(database, { eventId, attempt, at, status: outcome.status });
  }
  const nextAt = nextAttemptAt(attempt, at);
  metrics.ended(nextAt === null ? 'dropped' : 'failed', 1);
  return markFailed(database, { eventId, attempt, at, status: outcome.status, error: outcome.error, nextAt });
}

/** All of a URL that may be logged. */
function hostOf(url: string): string | null {
  return URL.parse(url)?.host ?? null;
}
