import { notify } from '#api/store/listen.ts';
import type { Queryable } from '#api/store/database.ts';
import type { SecretBox } from '#api/store/secret-box.ts';
import { JOBS_CHANNEL } from '#api/jobs/jobs-channel.ts';
import { signingSecret } from '#api/webhooks/signing-secret.ts';
import { insertDelivery } from '#api/webhooks/webhook-delivery-rows.ts';
import { selectWebhookTargets } from '#api/webhooks/webhook-endpoint-rows.ts';
import { secretContext } from '#api/webhooks/webhook-secret.ts';
import type { NewId } from '#crds/ids.ts';

interface QueueDeps {
  readonly secretBox: SecretBox;
  readonly newId: NewId;
}

interface JobEvent {
  readonly accountId: string;
  readonly jobId: string;
  readonly livemode: boolean;
  readonly type: 'job.succeeded' | 'job.failed' | 'job.canceled';
  /** The job's `completed_at`. */
  readonly createdAt: Date;
  /** The job object as it is shown now. */
  readonly job: object;
  readonly webhookUrl: string | null;
}

interface Destination {
  /** null: the job's webhook_url. */
  readonly endpointId: string | null;
  readonly url: string;
  readonly secret: string;
}

/**
 * Writes one delivery per destination, in the transaction that ends the job. Each has its own event id;
 * body and secret stay as they are now, whatever happens to the endpoint. Spec: Events / When sent.
 */
export async function queueJobEvent(deps: QueueDeps, tx: Queryable, event: JobEvent): Promise<void> {
  const destinations = await destinationsOf(deps, tx, event);
  for (const { endpointId, url, secret } of destinations) {
    const eventId = deps.newId('event');
    await insertDelivery(tx, {
      eventId,
      accountId: event.accountId,
      jobId: event.jobId,
      endpointId,
      url,
      sealedSecret: deps.secretBox.seal(secret, secretContext.delivery(eventId)),
      body: eventBody({ ...event, id: eventId, data: { job: event.job } }),
      createdAt: event.createdAt,
    });
  }
  if (destinations.length > 0) await notify(tx, JOBS_CHANNEL, event.jobId);
}

/** The exact bytes of an event. Spec: Events / Envelope. */
export function eventBody(event: {
  id: string;
  type: string;
  createdAt: Date;
  livemode: boolean;
  data: object;
}): Buffer {
  const { id, type, createdAt, livemode, data } = event;
  return Buffer.from(JSON.stringify({ id, type, created_at: createdAt.toISOString(), livemode, data }));
}

async function destinationsOf(
  deps: QueueDeps,
  tx: Queryable,
  { accountId, webhookUrl }: JobEvent,
): Promise<Destination[]> {
  const registered = await selectWebhookTargets(tx, accountId);
  const destinations: Destination[] = registered
    .filter(({ enabled }) => enabled)
    .map(({ id, url, sealedSecret }) => ({
      endpointId: id,
      url,
      secret: deps.secretBox.open(sealedSecret, secretContext.endpoint(id)),
    }));
  // A URL that is registered gets its event as that endpoint, or none while it is paused.
  const isRegistered = registered.some(({ url }) => webhookUrl !== null && isSameUrl(url, webhookUrl));
  if (webhookUrl === null || isRegistered) return destinations;
  return [...destinations, { endpointId: null, url: webhookUrl, secret: await signingSecret(deps, tx, accountId) }];
}

function isSameUrl(one: string, other: string): boolean {
  return (URL.parse(one)?.href ?? one) === (URL.parse(other)?.href ?? other);
}
