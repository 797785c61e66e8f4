import { eventBody } from '#api/webhooks/queue-job-event.ts';
import { sendEvent, type SendDeps } from '#api/webhooks/send-event.ts';
import type { PingOutcome } from '#api/webhooks/webhook-ping-rows.ts';

interface Ping {
  readonly eventId: string;
  readonly url: string;
  readonly secret: string;
  /** Mode of the key that requested the ping. */
  readonly livemode: boolean;
  readonly signal?: AbortSignal;
}

/** Sends one `ping` to an endpoint, once. See docs/reference/webhooks.md#test-an-endpoint. */
export async function sendPing(deps: SendDeps, ping: Ping): Promise<PingOutcome> {
  const { eventId, livemode } = ping;
  const startedAt = deps.clock.now();
  const body = eventBody({ id: eventId, type: 'ping', createdAt: startedAt, livemode, data: {} });
  const { delivered, status } = await sendEvent(deps, { ...ping, body });
  return { delivered, status: status ?? 0, durationMs: deps.clock.now().getTime() - startedAt.getTime() };
}
