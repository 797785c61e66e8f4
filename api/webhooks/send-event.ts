import { signatureHeaders } from '#api/webhooks/sign.ts';
import { LIMITS } from '#crds/catalogue/plans.ts';
import type { Clock } from '#crds/process/clock.ts';
import type { SafeFetch } from '#api/outbound/safe-fetch.ts';
import { SafeFetchError } from '#api/outbound/safe-fetch-error.ts';

export interface SendDeps {
  readonly safeFetch: SafeFetch;
  readonly clock: Clock;
}

interface SignedEvent {
  readonly url: string;
  readonly secret: string;
  readonly eventId: string;
  readonly body: Buffer;
  /** Aborts the attempt when the process stops; the attempt has failed. */
  readonly signal?: AbortSignal;
}

export type SendOutcome =
  | { readonly delivered: true; readonly status: number }
  /** `status` null: there was no response. */
  | { readonly delivered: false; readonly status: number | null; readonly error: string };

/**
 * Sends an event once, signed with the current time. Any 2xx status line within 10 seconds is a success. The response
 * body is discarded. A redirect is a failure. See docs/reference/webhooks.md#responses-and-retries.
 */
export async function sendEvent({ safeFetch, clock }: SendDeps, event: SignedEvent): Promise<SendOutcome> {
  const { url, secret, eventId, body, signal } = event;
  const limitMs = LIMITS.webhookSeconds * 1000;
  try {
    const response = await safeFetch({
      url,
      purpose: 'webhook',
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'Svc-Webhooks/1',
        'svc-event-id': eventId,
        ...signatureHeaders({ secret, eventId, body, sentAt: clock.now() }),
      },
      body,
      maxRedirects: 0,
      totalMs: limitMs,
      idleMs: limitMs,
      maxBodyBytes: 0,
      ...(signal === undefined ? {} : { signal }),
    });
    response.discard();
    const { status } = response;
    if (status >= 200 && status < 300) return { delivered: true, status };
    return { delivered: false, status, error: `the response has status ${status}` };
  } catch (error) {
    if (!(error instanceof SafeFetchError)) throw error;
    return { delivered: false, status: null, error: error.message };
  }
}
