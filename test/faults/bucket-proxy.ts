/**
 * An HTTP proxy in front of an S3 server that fails on command: a percentage of the requests gets one of the chosen
 * faults, the others are forwarded.
 */
import { Agent, createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { SeededRandom } from '#test/faults/seeded-random.ts';

/**
 * error: 500 · slow down: 503 SlowDown · late: ten seconds · cut short: half of an object ·
 * other ETag: that of another object · missing: 404 for an existing object · reply lost: done without a response ·
 * unreachable: no response
 */
export const BUCKET_FAULTS = [
  'error',
  'slow down',
  'late',
  'cut short',
  'other ETag',
  'missing',
  'reply lost',
  'unreachable',
] as const;
export type BucketFault = (typeof BUCKET_FAULTS)[number];

export interface BucketProxy {
  readonly endpoint: string;
  fail(how: { faults: readonly BucketFault[]; percent: number; random: SeededRandom }): void;
  mend(): void;
  /** Requests that met a fault since it was last mended. */
  met(): number;
  close(): Promise<void>;
}

const LATE_MS = 10_000;

export async function startBucketProxy(target: string): Promise<BucketProxy> {
  const agent = new Agent({ keepAlive: true });
  let failing: Parameters<BucketProxy['fail']>[0] | null = null;
  let met = 0;
  const faultOf = (request: IncomingMessage): BucketFault | null => {
    if (failing === null || failing.random.below(100) >= failing.percent) return null;
    const possible = failing.faults.filter((fault) => isPossible(fault, request));
    if (possible.length === 0) return null;
    met += 1;
    return failing.random.pick(possible);
  };
  const server = createServer({ requestTimeout: 0 }, (request, response) => {
    request.on('error', () => undefined);
    response.on('error', () => undefined);
    void handleRequest({ target, agent }, { request, response, fault: faultOf(request) });
  });
  await new Promise<void>((listening) => void server.listen(0, '127.0.0.1', listening));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    fail: (how) => {
      failing = how;
    },
    mend: () => {
      failing = null;
      met = 0;
    },
    met: () => met,
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((closed) => void server.close(() => closed()));
      agent.destroy();
    },
  };
}

function isPossible(fault: BucketFault, { method, url = '' }: IncomingMessage): boolean {
  const isObject = new URL(url, 'http://localhost').pathname.split('/').length > 2;
  if (fault === 'cut short') return isObject && method === 'GET';
  if (fault === 'missing') return isObject && (method === 'GET' || method === 'HEAD');
  return fault !== 'other ETag' || isObject;
}

interface ProxiedRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly fault: BucketFault | null;
}

async function handleRequest(
  to: { target: string; agent: Agent },
  { request, response, fault }: ProxiedRequest,
): Promise<void> {
  switch (fault) {
    case 'error':
      return refuse(request, response, [500, 'InternalError']);
    case 'slow down':
      return refuse(request, response, [503, 'SlowDown']);
    case 'missing':
      return refuse(request, response, [404, 'NoSuchKey']);
    case 'unreachable':
      return void request.socket.resetAndDestroy();
    case 'late':
      await delay(LATE_MS);
      return forward(to, { request, response, fault });
    case 'cut short':
    case 'other ETag':
    case 'reply lost':
    case null:
      return forward(to, { request, response, fault });
  }
}

function refuse(request: IncomingMessage, response: ServerResponse, [status, code]: [number, string]): void {
  request.resume();
  response.writeHead(status, { 'content-type': 'application/xml', connection: 'close' });
  response.end(`<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`);
}

function forward(
  { target, agent }: { target: string; agent: Agent },
  { request, response, fault }: ProxiedRequest,
): void {
  // This proxy has answered it already.
  const { expect: _expect, ...headers } = request.headers;
  const upstream = httpRequest(new URL(request.url ?? '/', target), { method: request.method, agent, headers });
  upstream.once('error', () => request.socket.destroy());
  request.once('close', () => {
    if (!request.complete) upstream.destroy();
  });
  upstream.once('response', (answered) => {
    const { statusCode = 500 } = answered;
    const etag = fault === 'other ETag' ? { etag: '"00000000000000000000000000000000"' } : {};
    if (fault === 'reply lost') return void request.socket.resetAndDestroy();
    response.writeHead(statusCode, { ...answered.headers, ...etag });
    if (fault === 'cut short' && statusCode < 300) return cutShort(answered, response);
    answered.once('error', () => response.destroy());
    answered.pipe(response);
  });
  request.pipe(upstream);
}

function cutShort(answered: IncomingMessage, response: ServerResponse): void {
  let left = Math.floor(Number(answered.headers['content-length']) / 2);
  answered.on('data', (chunk: Buffer) => {
    const part = chunk.subarray(0, left);
    left -= part.length;
    if (left > 0) return void response.write(part);
    answered.destroy();
    response.write(part, () => response.destroy());
  });
}
