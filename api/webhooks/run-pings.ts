/** Sending of queued pings by the courier; webhook-ping-rows.ts has their states. */
import type { Dependencies } from '#api/dependencies.ts';
import type { SendDeps } from '#api/webhooks/send-event.ts';
import { sendPing } from '#api/webhooks/send-ping.ts';
import { recordPingOutcome, claimPings, type ClaimedPing } from '#api/webhooks/webhook-ping-rows.ts';
import { openUrl, urlContext } from '#api/webhooks/stored-url.ts';
import { secretContext } from '#api/webhooks/webhook-secret.ts';

export interface PingDeps extends SendDeps, Pick<Dependencies, 'database' | 'secretBox' | 'log'> {}

/** Maximum number of pings in flight in this process. */
export const MAX_PINGS = 100;
/** Maximum age of a ping that is sent, in milliseconds: no caller waits for an older one. */
const MAX_AGE_MS = 60_000;

/** Claims waiting pings, at most `freeSlots`. */
export async function claimWaitingPings(
  { database, clock }: PingDeps,
  freeSlots: number,
): Promise<readonly ClaimedPing[]> {
  const now = clock.now();
  return claimPings(database, { now, since: new Date(now.getTime() - MAX_AGE_MS), limit: freeSlots });
}

/** Sends one ping and records its outcome. A ping that `signal` aborts was not delivered. */
export async function runPing(deps: PingDeps, ping: ClaimedPing, signal?: AbortSignal): Promise<void> {
  const { eventId, sealedSecret, livemode } = ping;
  const url = openUrl(deps.secretBox, ping, urlContext.ping(eventId));
  const secret = deps.secretBox.open(sealedSecret, secretContext.ping(eventId));
  const end = await sendPing(deps, { eventId, url, secret, livemode, ...(signal === undefined ? {} : { signal }) });
  await recordPingOutcome(deps.database, { ...end, eventId, at: deps.clock.now() });
  deps.log.info({ event_id: eventId, status: end.status, delivered: end.delivered }, 'ping sent');
}
