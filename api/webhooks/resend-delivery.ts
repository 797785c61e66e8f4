import { JOBS_CHANNEL } from '#api/jobs/jobs-channel.ts';
import { notify } from '#api/store/listen.ts';
import type { Database } from '#api/store/database.ts';
import { findDelivery, queueDeliveryAgain, type DeliveryRecord } from '#api/webhooks/delivery-record-rows.ts';
import { MediaError } from '#crds/media-error.ts';
import type { Clock } from '#crds/shared/clock.ts';

/**
 * Queues a delivered or dead event again: the same id and body, signed anew, eight attempts from now on.
 * @throws MediaError not_found; bad_request (409) while it is still queued.
 */
export async function resendDelivery(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  eventId: string,
): Promise<DeliveryRecord> {
  const queued = await database.transaction(async (tx) => {
    const again = await queueDeliveryAgain(tx, eventId, clock.now());
    if (again !== null) await notify(tx, JOBS_CHANNEL, again.jobId);
    return again;
  });
  if (queued !== null) return queued;
  const waiting = await findDelivery(database, eventId);
  if (waiting === null) {
    throw new MediaError('not_found', `There is no event \`${eventId}\`. \`mediactl webhook deliveries\` shows them.`);
  }
  throw new MediaError(
    'bad_request',
    `The event ${eventId} is still queued; its next attempt is due at ${waiting.nextAt.toISOString()}.`,
    { status: 409 },
  );
}
