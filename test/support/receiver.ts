import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { createSecureContext, type SecureContext } from 'node:tls';
import { afterAll, inject } from 'vitest';
import { closeServer, listen } from '#crds/process/ops-server.ts';
import { makeReceiverCertificates, type ReceiverCertificates } from '#test/support/receiver-certificates.ts';

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

export interface Receiver {
  /** `https://127.0.0.1:41234`, or http. */
  readonly url: string;
  readonly port: number;
  /** Complete requests, in the order of arrival. */
  readonly received: readonly Received[];
  /** Connections ever accepted, whether or not a request followed. */
  connections(): number;
}

interface ReceiverSettings {
  /** Any loopback address: 127.0.0.2 looks like another host. */
  readonly host?: string;
  readonly tls?: boolean;
  /** Called once the whole request is there; default: 204. */
  readonly respond?: (response: ServerResponse, received: Received) => void;
}

/** Returns the trust of a client of receivers: only the test's authority. */
export function trustReceivers(): SecureContext {
  return createSecureContext({ ca: certificates().authority });
}

/** Returns the path of the authority's PEM file, removed after the file's tests. */
export function authorityFile(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'mediajobs-ca-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  writeFileSync(path.join(folder, 'ca.pem'), certificates().authority);
  return path.join(folder, 'ca.pem');
}

/** Starts an HTTPS (or http) server on a loopback address and a free port, closed after the file's tests. */
export async function startReceiver({
  host = '127.0.0.1',
  tls = true,
  respond = noContent,
}: ReceiverSettings = {}): Promise<Receiver> {
  const received: Received[] = [];
  const listener: RequestListener = (request, response) => {
    void buffer(request).then(
      (body) => {
        const whole = { method: request.method ?? '', path: request.url ?? '', headers: request.headers, body };
        received.push(whole);
        respond(response, whole);
      },
      () => undefined,
    );
  };
  const { key, certificate } = certificates();
  const server = tls ? createHttpsServer({ key, cert: certificate }, listener) : createHttpServer(listener);
  let connections = 0;
  server.on('connection', () => (connections += 1));
  await listen(server, { host, port: 0 });
  afterAll(() => closeServer(server));
  const { port } = server.address() as AddressInfo;
  return { url: `${tls ? 'https' : 'http'}://${host}:${port}`, port, received, connections: () => connections };
}

function noContent(response: ServerResponse): void {
  response.writeHead(204).end();
}

let made: ReceiverCertificates | null = null;

/** The run's own when a service was started that trusts them, else this file's. */
function certificates(): ReceiverCertificates {
  made ??= inject('receiverCertificates') ?? makeReceiverCertificates();
  return made;
}
