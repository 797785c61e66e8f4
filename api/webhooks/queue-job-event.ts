import type { Dependencies } from '#api/dependencies.ts';
import type { Queryable } from '#api/store/database.ts';
import { nullWhenUnreadable, unlessUnreadable } from '#api/store/unless-unreadable.ts';
import { notifyCourier } from '#api/store/changes-channel.ts';
import { signingSecret } from '#api/webhooks/signing-secret.ts';
import { openUrl, sealUrl, urlContext } from '#api/webhooks/stored-url.ts';
import { insertDelivery } from '#api/webhooks/webhook-delivery-rows.ts';
import { selectWebhookTargets } from '#api/webhooks/webhook-endpoint-rows.ts';
import { secretContext } from '#api/webhooks/webhook-secret.ts';

type QueueDeps = Pick<Dependencies, 'secretBox' | 'newId'>;

interface JobEvent {
  readonly accountId: string;
  readonly jobId: string;
  readonly livemode: boolean;
  readonly type: 'job.succeeded' | 'job.failed' | 'job.canceled';
  /** The job's `completed_at`. */
  readonly createdAt: Date;
  /** Job object of the interface at the time of the event. */
  readonly job: object;
  /** null: the job has none. */
  readonly webhookUrl: string | typeof UNREADABLE_URL | null;
}

/** Stands for a `webhook_url` that cannot be decrypted. */
export const UNREADABLE_URL = Symbol('unreadable URL');

interface Destination {
  /** null: the job's webhook_url. */
  readonly endpointId: string | null;
  /** null: it cannot be decrypted. */
  readonly url: string | null;
  /** Shortened URL, used when the URL cannot be decrypted. */
  readonly shownUrl: string | null;
  /** null: it cannot be decrypted. */
  readonly secret: string | null;
}

/**
 * Inserts one delivery per destination, in the transaction that finishes the job. Each has its own event id. Later
 * changes of the endpoint do not change body and secret. See docs/reference/webhooks.md#when-events-are-sent.
 *
 * A URL or secret whose key was removed does not keep the job from ending. Its delivery gets an empty value, with which
 * every attempt fails: so the account sees in its deliveries which events it did not receive.
 */
export async function queueJobEvent(deps: QueueDeps, tx: Queryable, event: JobEvent): Promise<void> {
  const destinations = await destinationsOf(deps, tx, event);
  for (const { endpointId, url, shownUrl, secret } of destinations) {
    const eventId = deps.newId('event');
    await insertDelivery(tx, {
      eventId,
      accountId: event.accountId,
      jobId: event.jobId,
      endpointId,
      url:
        url === null
          ? { plainUrl: null, sealedUrl: EMPTY, shownUrl: shownUrl ?? '…' }
          : sealUrl(deps.secretBox, url, urlContext.delivery(eventId)),
      sealedSecret: secret === null ? EMPTY : deps.secretBox.seal(secret, secretContext.delivery(eventId)),
      body: eventBody({ ...event, id: eventId, data: { job: event.job } }),
      createdAt: event.createdAt,
    });
  }
  if (destinations.length > 0) await notifyCourier(tx, 'deliveries');
}

/** Stored in place of what cannot be decrypted. It cannot be decrypted either. */
const EMPTY = Buffer.alloc(0);

/** Returns the exact bytes of an event: docs/reference/webhooks.md#events. */
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
  const targets = await selectWebhookTargets(tx, accountId);
  const registered = targets.map((target) => ({
    ...target,
    url: unlessUnreadable(() => openUrl(deps.secretBox, target, urlContext.endpoint(target.id))),
  }));
  const destinations: Destination[] = registered
    .filter(({ enabled }) => enabled)
    .map(({ id, url, shownUrl, sealedSecret }) => ({
      endpointId: id,
      url,
      shownUrl,
      secret: unlessUnreadable(() => deps.secretBox.open(sealedSecret, secretContext.endpoint(id))),
    }));
  if (webhookUrl === UNREADABLE_URL)
    return [...destinations, { endpointId: null, url: null, shownUrl: null, secret: null }];
  // A registered URL receives the event as that endpoint, or no event while the endpoint is paused.
  const isRegistered = registered.some(({ url }) => webhookUrl !== null && url !== null && isSameUrl(url, webhookUrl));
  if (webhookUrl === null || isRegistered) return destinations;
  const secret = await signingSecret(deps, tx, accountId).catch(nullWhenUnreadable);
  return [...destinations, { endpointId: null, url: webhookUrl, shownUrl: null, secret }];
}

function isSameUrl(one: string, other: string): boolean {
  return (URL.parse(one)?.href ?? one) === (URL.parse(other)?.href ?? other);
}
