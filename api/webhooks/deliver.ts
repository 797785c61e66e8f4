/**
 * Sends queued webhook deliveries; webhook-delivery-rows.ts has their states. An attempt is claimed with a lease in one
 * transaction and sent outside of any. Its outcome is recorded in another. When the process dies in between, the lease
 * expires and the same event is sent again. A host has at most `PER_HOST` attempts in flight, so a slow host delays no
 * other. An account has at most `PER_ACCOUNT`, so the slow receivers of one account delay no other account.
 */
import type { Dependencies } from '#api/dependencies.ts';
import { SecretBoxError } from '#api/store/secret-box.ts';
import type { DeliveryMetrics } from '#api/webhooks/delivery-metrics.ts';
import { ATTEMPTS, nextAttemptAt } from '#api/webhooks/schedule.ts';
import { sendEvent, type SendDeps, type SendOutcome } from '#api/webhooks/send-event.ts';
import { openUrl, urlContext } from '#api/webhooks/stored-url.ts';
import { insertAttempt } from '#api/webhooks/webhook-attempt-rows.ts';
import {
  claimDeliveries,
  dropLostDeliveries,
  markDelivered,
  markFailed,
  selectTraceparent,
  type ClaimedDelivery,
} from '#api/webhooks/webhook-delivery-rows.ts';
import { secretContext } from '#api/webhooks/webhook-secret.ts';
import { jobTraceparent } from '#crds/contract/job-trace.ts';
import { faultPoint } from '#crds/process/fault-point.ts';
import type { OpenSpan } from '#crds/process/tracing.ts';

export interface DeliverDeps extends SendDeps, Pick<Dependencies, 'database' | 'secretBox' | 'log' | 'tracing'> {
  readonly metrics: DeliveryMetrics;
}

/** Maximum number of deliveries in flight in this process. */
export const MAX_DELIVERIES = 100;
/** Maximum number of deliveries in flight to one host, in all processes together. */
const PER_HOST = 4;
/**
 * Maximum number of deliveries of one account in flight, in all processes together: `PER_HOST` for each of its ten
 * endpoints, so that a slow endpoint does not delay another one of the same account either.
 */
const PER_ACCOUNT = 40;
/** Lease of an attempt, in milliseconds: well over its timeout of 10 seconds. */
const LEASE_MS = 30_000;

/** Claims due deliveries, at most `freeSlots`. The caller sends each with `deliver`. */
export async function claimDueDeliveries(
  { database, clock, metrics }: DeliverDeps,
  freeSlots: number,
): Promise<readonly ClaimedDelivery[]> {
  const now = clock.now();
  const dropped = await dropLostDeliveries(database, { now, attempts: ATTEMPTS });
  metrics.ended('dropped', dropped);
  const leaseUntil = new Date(now.getTime() + LEASE_MS);
  const claim = { now, leaseUntil, limit: freeSlots, perHost: PER_HOST, perAccount: PER_ACCOUNT, attempts: ATTEMPTS };
  return database.transaction((tx) => claimDeliveries(tx, claim));
}

/** Makes one claimed attempt and records its outcome. */
export async function deliver(deps: DeliverDeps, delivery: ClaimedDelivery, signal?: AbortSignal): Promise<void> {
  const { eventId, attempt } = delivery;
  await faultPoint('before-webhook-post');
  const at = deps.clock.now();
  const span = await startDeliverySpan(deps, delivery);
  const { outcome, host } = await sendDelivery(deps, delivery, signal);
  await faultPoint('after-webhook-response');
  span?.end({
    error: outcome.delivered ? null : String(outcome.status ?? 'no_response'),
    attributes: {
      'http.request.method': 'POST',
      'http.request.resend_count': attempt - 1,
      'http.response.status_code': outcome.status ?? undefined,
      'mediajobs.event.id': eventId,
    },
  });
  // This process is stopping: the lease expires and the next process sends the event again.
  if (signal?.aborted === true && !outcome.delivered) return;
  const durationMs = Math.max(0, deps.clock.now().getTime() - at.getTime());
  const error = outcome.delivered ? null : outcome.error;
  await insertAttempt(deps.database, eventId, { at, status: outcome.status, error, durationMs });
  const isCurrent = await recordOutcome(deps, delivery, outcome);
  const { status } = outcome;
  deps.log.info(
    {
      event_id: eventId,
      attempt,
      host,
      status,
      delivered: outcome.delivered,
      is_current: isCurrent,
    },
    'webhook sent',
  );
}

/** Outcome of an attempt that sends nothing. Later attempts are made: the operator may add the missing key. */
const UNREADABLE: SendOutcome = {
  delivered: false,
  status: null,
  error: 'the stored URL or secret cannot be decrypted',
};

/** Sends the event once. Returns the outcome, and the host for the log; null when the URL cannot be decrypted. */
async function sendDelivery(
  deps: DeliverDeps,
  delivery: ClaimedDelivery,
  signal: AbortSignal | undefined,
): Promise<{ readonly outcome: SendOutcome; readonly host: string | null }> {
  const target = openTarget(deps, delivery);
  if (target === null) return { outcome: UNREADABLE, host: null };
  const outcome = await sendEvent(deps, { ...delivery, ...target, ...(signal === undefined ? {} : { signal }) });
  return { outcome, host: hostOf(target.url) };
}

/** Returns URL and secret; null, and logs it, when they cannot be decrypted. */
function openTarget(
  { secretBox, log }: DeliverDeps,
  delivery: ClaimedDelivery,
): { readonly url: string; readonly secret: string } | null {
  const { eventId } = delivery;
  try {
    const url = openUrl(secretBox, delivery, urlContext.delivery(eventId));
    return { url, secret: secretBox.open(delivery.sealedSecret, secretContext.delivery(eventId)) };
  } catch (error) {
    if (!(error instanceof SecretBoxError)) throw error;
    log.error({ err: error, event_id: eventId }, 'webhook not sent: its URL or secret cannot be decrypted');
    return null;
  }
}

/** Starts the span of an attempt; null: the job is not traced. The request has no header of it. */
async function startDeliverySpan(
  { tracing, database }: DeliverDeps,
  { jobId }: ClaimedDelivery,
): Promise<OpenSpan | null> {
  const traceparent = tracing === null ? null : await selectTraceparent(database, jobId);
  if (tracing === null || traceparent === null) return null;
  return tracing.start({ name: 'POST webhook', kind: 'client', parent: jobTraceparent(jobId, traceparent) });
}

async function recordOutcome(
  { database, clock, metrics }: DeliverDeps,
  { eventId, attempt }: ClaimedDelivery,
  outcome: SendOutcome,
): Promise<boolean> {
  const at = clock.now();
  if (outcome.delivered) {
    const isCurrent = await markDelivered(database, { eventId, attempt, at, status: outcome.status });
    if (isCurrent) metrics.ended('delivered', 1);
    return isCurrent;
  }
  const nextAt = nextAttemptAt(attempt, at);
  const { status, error } = outcome;
  const isCurrent = await markFailed(database, { eventId, attempt, at, status, error, nextAt });
  if (isCurrent) metrics.ended(nextAt === null ? 'dropped' : 'failed', 1);
  return isCurrent;
}

/** Returns the host of a URL, the only part that may be logged. */
function hostOf(url: string): string | null {
  return URL.parse(url)?.host ?? null;
}
