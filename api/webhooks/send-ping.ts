import type { NewId } from '#crds/ids.ts';
import { eventBody } from '#api/webhooks/queue-job-event.ts';
import { sendEvent, type SendDeps } from '#api/webhooks/send-event.ts';

interface Ping {
  readonly url: string;
  readonly secret: string;
  /** Of the key that asked. */
  readonly livemode: boolean;
}

interface PingResult {
  readonly eventId: string;
  readonly delivered: boolean;
  /** 0 when no answer came. */
  readonly status: number;
  readonly durationMs: number;
}

/** Sends one `ping` to an endpoint, once. Spec: `POST /v1/webhook_endpoints/{id}/test`. */
export async function sendPing(deps: SendDeps & { newId: NewId }, { url, secret, livemode }: Ping): Promise<PingResult> {
  const eventId = deps.newId('event');
  const began = deps.clock.now();
  const body = eventBody({ id: eventId, type: 'ping', createdAt: began, livemode, data: {} });
  const { delivered, status } = await sendEvent(deps, { url, secret, eventId, body });
  return { eventId, delivered, status: status ?? 0, durationMs: deps.clock.now().getTime() - began.getTime() };
}
