import { eventBody } from '#api/webhooks/queue-job-event.ts';
import { sendEvent, type SendDeps } from '#api/webhooks/send-event.ts';
import type { PingEnd } from '#api/webhooks/webhook-ping-rows.ts';

interface Ping {
  readonly eventId: string;
  readonly url: string;
  readonly secret: string;
  /** Of the key that asked. */
  readonly livemode: boolean;
  readonly signal?: AbortSignal;
}

/** Sends one `ping` to an endpoint, once. Spec: `POST /v1/webhook_endpoints/{id}/test`. */
export async function sendPing(deps: SendDeps, ping: Ping): Promise<PingEnd> {
  const { eventId, livemode } = ping;
  const began = deps.clock.now();
  const body = eventBody({ id: eventId, type: 'ping', createdAt: began, livemode, data: {} });
  const { delivered, status } = await sendEvent(deps, { ...ping, body });
  return { delivered, status: status ?? 0, durationMs: deps.clock.now().getTime() - began.getTime() };
}
