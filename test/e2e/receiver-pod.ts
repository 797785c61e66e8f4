/** An HTTPS server in the cluster: takes webhooks and results, serves a file. Callers know it by its Service's address. */
import { makeReceiverCertificates } from '#test/support/receiver-certificates.ts';
import { apply, kubectl, kubectlJson, until } from '#test/e2e/commands.ts';

export interface ReceiverAddress {
  /** `https://10.96.1.2`. */
  readonly url: string;
  /** PEM of the authority that the courier must trust. */
  readonly authority: string;
}

export interface ReceiverPod extends ReceiverAddress {
  /** Whole requests, in the order in which they came. */
  received(): Promise<readonly ReceivedInPod[]>;
}

export interface ReceivedInPod {
  /** When its last byte had come, in milliseconds since 1970. */
  readonly at: number;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly size: number;
  /** Of bodies up to 64 KiB. */
  readonly text: string;
}

const NAME = 'receiver';
/**
 * Each request as a line of JSON on standard output; GET answers with a sample. The first request to a path that
 * begins with /hold waits for its response, though less long than a webhook may.
 */
const SERVER = `
  const { createServer } = require('node:https');
  const { readFileSync } = require('node:fs');
  const held = new Set();
  const tls = { cert: readFileSync('/tls/tls.crt'), key: readFileSync('/tls/tls.key') };
  createServer(tls, async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    const body = Buffer.concat(parts);
    const { method, url: path, headers } = request;
    const text = body.length <= 65536 ? body.toString() : '';
    console.log(JSON.stringify({ at: Date.now(), method, path, headers, size: body.length, text }));
    if (path.startsWith('/hold') && !held.has(path)) {
      held.add(path);
      await new Promise((resolve) => setTimeout(resolve, 8000));
    }
    if (method !== 'GET') return response.writeHead(204).end();
    const file = readFileSync('/app/api/data/samples/photo.jpg');
    response.writeHead(200, { 'content-length': file.length, 'content-type': 'image/jpeg' }).end(file);
  }).listen(8443);
`;

/** Starts it from an image that has Node and the samples. */
export async function startReceiverPod(image: string): Promise<ReceiverAddress> {
  apply({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: NAME },
    spec: { selector: { app: NAME }, ports: [{ port: 443, targetPort: 8443 }] },
  });
  const { spec } = await kubectlJson<{ spec: { clusterIP: string } }>('get', 'service', NAME);
  const certificates = makeReceiverCertificates([spec.clusterIP]);
  apply({
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'kubernetes.io/tls',
    metadata: { name: NAME },
    stringData: { 'tls.crt': certificates.certificate, 'tls.key': certificates.key },
  });
  apply(pod(image));
  await kubectl('wait', '--for=condition=Ready', `pod/${NAME}`, '--timeout=180s');
  return { url: `https://${spec.clusterIP}`, authority: certificates.authority };
}

/** Returns the client of the running receiver. */
export function receiverPod(address: ReceiverAddress): ReceiverPod {
  return {
    ...address,
    received: async () => {
      const lines = (await kubectl('logs', NAME)).split('\n').filter((line) => line !== '');
      return lines.map((line) => JSON.parse(line) as ReceivedInPod);
    },
  };
}

/** Returns the webhooks about a job, as soon as there is one. */
export function webhooksOf(receiver: ReceiverPod, jobId: string): Promise<readonly ReceivedInPod[]> {
  return until(`a webhook about ${jobId}`, 60, async () => {
    const about = (await receiver.received()).filter(({ method, text }) => method === 'POST' && text.includes(jobId));
    return about.length === 0 ? null : about;
  });
}

function pod(image: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: NAME, labels: { app: NAME } },
    spec: {
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 1,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: 1000,
        fsGroup: 1000,
        seccompProfile: { type: 'RuntimeDefault' },
      },
      containers: [
        {
          name: NAME,
          image,
          imagePullPolicy: 'IfNotPresent',
          command: ['node', '-e', SERVER],
          readinessProbe: { tcpSocket: { port: 8443 }, periodSeconds: 1 },
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
          volumeMounts: [{ name: 'tls', mountPath: '/tls', readOnly: true }],
        },
      ],
      volumes: [{ name: 'tls', secret: { secretName: NAME, defaultMode: 0o440 } }],
    },
  };
}
