/** Sends queued deliveries before their time, and dropped ones of an endpoint again. */
import { recordAudit, type Actor } from '#api/audit/audit.ts';
import type { Dependencies } from '#api/dependencies.ts';
import { notifyCourier } from '#api/store/changes-channel.ts';
import { requeueDropped, setDueNow } from '#api/webhooks/delivery-record-rows.ts';
import { MediaError } from '#crds/contract/media-error.ts';

/** Maximum number of deliveries that one call queues again. */
export const MAX_SENT_AGAIN = 1000;

type SendDeps = Pick<Dependencies, 'database' | 'clock'>;

/**
 * Makes the next attempt of a queued delivery due at once. It counts as one of its eight.
 * @throws MediaError bad_request (409) when it is done or being sent.
 */
export async function sendDeliveryNow(
  { database, clock }: SendDeps,
  { caller, input: { eventId } }: { caller: Actor; input: { readonly eventId: string } },
): Promise<void> {
  const at = clock.now();
  const isDue = await database.transaction(async (tx) => {
    const due = await setDueNow(tx, eventId, at);
    if (due === null) return false;
    await recordAudit(tx, caller, { at, action: 'webhook.send_now', target: eventId, accountId: due.accountId });
    await notifyCourier(tx, 'deliveries');
    return true;
  });
  if (isDue) return;
  throw new MediaError('bad_request', 'The event is being sent, or was sent already.', { status: 409 });
}

/** Queues the dropped events of an endpoint again, each with eight attempts. Returns their number. */
export async function resendDropped(
  { database, clock }: SendDeps,
  { caller, input }: { caller: Actor; input: { readonly accountId: string; readonly endpointId: string } },
): Promise<number> {
  const at = clock.now();
  return database.transaction(async (tx) => {
    const queued = await requeueDropped(tx, { ...input, at, limit: MAX_SENT_AGAIN });
    if (queued.length === 0) return 0;
    const { accountId, endpointId } = input;
    await recordAudit(tx, caller, { at, action: 'webhook.resend_dropped', target: endpointId, accountId });
    await notifyCourier(tx, 'deliveries');
    return queued.length;
  });
}
