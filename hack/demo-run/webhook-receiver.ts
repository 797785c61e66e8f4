import { createHmac, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { Certificates } from '#api/embedded/certificates.ts';
import { closeServer, listen } from '#crds/process/ops-server.ts';

interface WebhookEvent {
  readonly id: string;
  readonly type: string;
  readonly data: { readonly job: { readonly id: string } };
}

export interface WebhookReceiver {
  readonly url: string;
  /** Resolves with the job's event. @throws Error when none arrived in time or its signature is invalid. */
  eventOf(jobId: string): Promise<WebhookEvent>;
  close(): Promise<void>;
}

interface Delivery {
  readonly event: WebhookEvent;
  readonly problem: string | null;
}

const WAIT_MS = 30_000;
const OLDEST_SECONDS = 300;

/** Starts an HTTPS server that responds to webhooks with 200 at once and checks each signature. */
export async function startWebhookReceiver(certificates: Certificates, secret: () => string): Promise<WebhookReceiver> {
  const deliveries = new Map<string, PromiseWithResolvers<Delivery>>();
  const deliveryOf = (jobId: string): PromiseWithResolvers<Delivery> => {
    const known = deliveries.get(jobId) ?? Promise.withResolvers<Delivery>();
    deliveries.set(jobId, known);
    return known;
  };
  const tls = { cert: readFileSync(certificates.certFile), key: readFileSync(certificates.keyFile) };
  const server = createServer(tls, (request, response) => {
    void buffer(request).then((body) => {
      response.writeHead(200).end();
      const event = JSON.parse(body.toString('utf8')) as WebhookEvent;
      const problem = signatureProblem(body, {
        header: String(request.headers['svc-signature']),
        secret: secret(),
        nowMs: Date.now(),
      });
      deliveryOf(event.data.job.id).resolve({ event, problem });
    });
  });
  await listen(server, { host: '127.0.0.1', port: 0 });
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`,
    eventOf: async (jobId) => {
      const { event, problem } = await withDeadline(deliveryOf(jobId).promise, jobId);
      if (problem !== null) throw new Error(`The webhook for ${jobId} is invalid: ${problem}.`);
      return event;
    },
    close: () => closeServer(server),
  };
}

/** Returns the problem of the raw body's signature; null for a valid one. */
function signatureProblem(
  body: Buffer,
  { header, secret, nowMs }: { header: string; secret: string; nowMs: number },
): string | null {
  const [, seconds = '', sent = ''] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(header) ?? [];
  if (sent === '') return `its Svc-Signature "${header}" has another form`;
  if (Math.abs(nowMs / 1000 - Number(seconds)) > OLDEST_SECONDS) return 'it was signed more than five minutes ago';
  const right = createHmac('sha256', secret).update(`${seconds}.`).update(body).digest();
  return timingSafeEqual(right, Buffer.from(sent, 'hex')) ? null : 'its signature does not match the signing secret';
}

function withDeadline(delivery: Promise<Delivery>, jobId: string): Promise<Delivery> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(
      () => reject(new Error(`No webhook for ${jobId} arrived within ${WAIT_MS / 1000} seconds.`)),
      WAIT_MS,
    );
    void delivery.then((value) => {
      clearTimeout(late);
      resolve(value);
    });
  });
}
