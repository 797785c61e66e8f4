/** The courier's side of tests of webhook endpoints (their life: webhook-ping-rows.ts). */
import type { Database } from '#api/store/database.ts';
import type { SecretBox } from '#api/store/secret-box.ts';
import type { SendDeps } from '#api/webhooks/send-event.ts';
import { sendPing } from '#api/webhooks/send-ping.ts';
import { endPing, takePings, type TakenPing } from '#api/webhooks/webhook-ping-rows.ts';
import { secretContext } from '#api/webhooks/webhook-secret.ts';
import type { Log } from '#crds/shared/log.ts';

export interface PingDeps extends SendDeps {
  readonly database: Database;
  readonly secretBox: SecretBox;
  readonly log: Log;
}

/** Pings under way at once in this process. */
export const AT_ONCE = 100;
/** Nobody waits any more for an older one. */
const FRESH_MS = 60_000;

export async function takeWaitingPings(
  { database, clock }: PingDeps,
  freePlaces: number,
): Promise<readonly TakenPing[]> {
  const now = clock.now();
  return takePings(database, { now, since: new Date(now.getTime() - FRESH_MS), limit: freePlaces });
}

/** Sends one ping and records what came of it; one that a stop cuts off was not delivered. */
export async function runPing(
  deps: PingDeps,
  { eventId, url, sealedSecret, livemode }: TakenPing,
  signal?: AbortSignal,
): Promise<void> {
  const secret = deps.secretBox.open(sealedSecret, secretContext.ping(eventId));
  const end = await sendPing(deps, { eventId, url, secret, livemode, ...(signal === undefined ? {} : { signal }) });
  await endPing(deps.database, { ...end, eventId, at: deps.clock.now() });
  deps.log.info({ event_id: eventId, status: end.status, delivered: end.delivered }, 'ping sent');
}
