/** HTTPS server on loopback for callers' URLs; its behavior depends on the path. */
import { createServer } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { TLSSocket } from 'node:tls';
import type { ReceiverCertificates } from '#test/support/receiver-certificates.ts';

export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

export type Behaviour = (response: ServerResponse, received: ReceivedRequest) => void;

export interface FaultReceiver {
  /** Without a path. */
  readonly url: string;
  /** Returns complete requests whose path begins with the text, in order. */
  received(path: string): readonly ReceivedRequest[];
  /** Sets the response for paths that begin with the text; the longest match applies. Default: 204, and the file to a GET. */
  behave(path: string, behaviour: Behaviour): void;
  close(): Promise<void>;
}

/** Response to a GET of a path without a behavior. */
export const SERVED_CSV = Buffer.from('id,name\n0010,Ada\n0011,Grace\n');

export async function startFaultReceiver({ key, certificate }: ReceiverCertificates): Promise<FaultReceiver> {
  const all: ReceivedRequest[] = [];
  const behaviours = new Map<string, Behaviour>();
  const behaviourOf = (path: string): Behaviour => {
    const [longest] = [...behaviours.keys()]
      .filter((start) => path.startsWith(start))
      .toSorted((a, b) => b.length - a.length);
    return behaviours.get(longest ?? '') ?? plain;
  };
  const server = createServer({ key, cert: certificate }, (request, response) => {
    response.on('error', () => undefined);
    buffer(request).then(
      (body) => {
        const received = { method: request.method ?? '', path: request.url ?? '', headers: request.headers, body };
        all.push(received);
        behaviourOf(received.path)(response, received);
      },
      () => undefined,
    );
  });
  await new Promise<void>((listening) => void server.listen(0, '127.0.0.1', listening));
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received: (path) => all.filter((one) => one.path.startsWith(path)),
    behave: (path, behaviour) => void behaviours.set(path, behaviour),
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((closed) => void server.close(() => closed()));
    },
  };
}

const plain: Behaviour = (response, { method }) => {
  if (method === 'GET') response.writeHead(200, { 'content-length': SERVED_CSV.length }).end(SERVED_CSV);
  else response.writeHead(204).end();
};

export const answering =
  (status: number, headers: Readonly<Record<string, string>> = {}): Behaviour =>
  (response) =>
    void response.writeHead(status, headers).end();

export const hanging: Behaviour = () => undefined;

/** Resets the connection below TLS, which has no reset of its own. */
export const resetting: Behaviour = ({ socket }) =>
  void (socket as TLSSocket & { readonly _parent?: Socket })._parent?.resetAndDestroy();

/** Returns a behavior that sends the status line at once, then an unlimited body. */
export const unlimitedBody =
  (status: number): Behaviour =>
  (response) => {
    response.writeHead(status);
    const more = (): void => {
      if (!response.destroyed) response.write(Buffer.alloc(65_536), () => setTimeout(more, 20));
    };
    more();
  };
