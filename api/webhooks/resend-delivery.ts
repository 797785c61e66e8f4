import { recordAudit, type Actor } from '#api/audit/audit.ts';
import type { Dependencies } from '#api/dependencies.ts';
import { notifyCourier } from '#api/store/changes-channel.ts';
import { findDelivery, requeueDelivery, type DeliveryRecord } from '#api/webhooks/delivery-record-rows.ts';
import { MediaError } from '#crds/contract/media-error.ts';

/**
 * Queues a delivered or dropped event again: the same id and body, a new signature, and eight attempts from now on.
 * @throws MediaError not_found; bad_request (409) before it has ended.
 */
export async function resendDelivery(
  { database, clock }: Pick<Dependencies, 'database' | 'clock'>,
  { caller, input: { eventId } }: { caller: Actor; input: { readonly eventId: string } },
): Promise<DeliveryRecord> {
  const at = clock.now();
  const queued = await database.transaction(async (tx) => {
    const again = await requeueDelivery(tx, eventId, at);
    if (again === null) return null;
    const { accountId } = again;
    await recordAudit(tx, caller, { at, action: 'webhook.resend', target: eventId, accountId });
    await notifyCourier(tx, 'deliveries');
    return again;
  });
  if (queued !== null) return queued;
  const waiting = await findDelivery(database, eventId);
  if (waiting === null) {
    throw new MediaError('not_found', `There is no event \`${eventId}\`. \`mediactl webhook deliveries\` shows them.`);
  }
  throw new MediaError(
    'bad_request',
    `The event ${eventId} has not ended; its next attempt is due at ${waiting.nextAt.toISOString()}.`,
    { status: 409 },
  );
}
