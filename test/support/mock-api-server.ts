/** API server that misbehaves on command: each request gets the next response of its queue. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KubeObject } from '#crds/kube/kube-object.ts';
import { closeServer, listen } from '#crds/process/ops-server.ts';

type Responder = (request: IncomingMessage, response: ServerResponse) => void;

export interface MockApiServer {
  readonly kubeconfig: string;
  /** `list …` and `watch …` with their query, and `<method> <path>` of all others. */
  readonly requests: string[];
  /** TCP connections so far. */
  connections(): number;
  /** Queues answers; a request that finds none waits for ever. */
  lists(...answers: readonly Responder[]): void;
  watches(...answers: readonly Responder[]): void;
  others(...answers: readonly Responder[]): void;
  /** Refuses connections until `up`. */
  down(): Promise<void>;
  up(): Promise<void>;
  close(): Promise<void>;
}

export async function startMockApiServer(): Promise<MockApiServer> {
  const queues: Record<'list' | 'watch' | 'other', Responder[]> = { list: [], watch: [], other: [] };
  const requests: string[] = [];
  let connections = 0;
  const make = () =>
    createServer((request, response) => {
      const { searchParams, pathname } = new URL(request.url ?? '/', 'http://mock');
      const kind = kindOf(request, searchParams);
      requests.push(kind === 'other' ? `${request.method} ${pathname}` : `${kind} ${searchParams.toString()}`);
      queues[kind].shift()?.(request, response);
    }).on('connection', () => {
      connections += 1;
    });
  let server = make();
  await listen(server, { host: '127.0.0.1', port: 0 });
  const { port } = server.address() as AddressInfo;
  const folder = await mkdtemp(join(tmpdir(), 'mock-api-server-'));
  const kubeconfig = join(folder, 'kubeconfig');
  await writeFile(kubeconfig, JSON.stringify(configFor(`http://127.0.0.1:${port}`)));
  return {
    kubeconfig,
    requests,
    connections: () => connections,
    lists: (...answers) => void queues.list.push(...answers),
    watches: (...answers) => void queues.watch.push(...answers),
    others: (...answers) => void queues.other.push(...answers),
    down: () => closeServer(server),
    async up() {
      server = make();
      await listen(server, { host: '127.0.0.1', port });
    },
    async close() {
      await closeServer(server);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export function listOf(version: string, objects: readonly KubeObject[], next?: string): Responder {
  const metadata = { resourceVersion: version, ...(next === undefined ? {} : { continue: next }) };
  return json(200, { metadata, items: objects });
}

export function json(status: number, body: object, headers: Readonly<Record<string, string>> = {}): Responder {
  return (_request, response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

export function refuse(status: number, headers: Readonly<Record<string, string>> = {}): Responder {
  return json(
    status,
    { kind: 'Status', status: 'Failure', code: status, reason: 'Mock', message: `mock ${status}` },
    headers,
  );
}

/** Sends the texts, then ends, resets the connection, or says nothing more. */
export function stream(texts: readonly string[], then: 'end' | 'reset' | 'silence'): Responder {
  return (request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    for (const text of texts) response.write(text);
    if (then === 'end') response.end();
    if (then === 'reset') setImmediate(() => request.socket.resetAndDestroy());
  };
}

export const blackhole: Responder = () => undefined;

export function line(type: string, object: object): string {
  return `${JSON.stringify({ type, object })}\n`;
}

export function mockObject(name: string, version: number, changes: { uid?: string; label?: string } = {}): KubeObject {
  const { uid = `uid-${name}`, label = 'blue' } = changes;
  return {
    metadata: {
      name,
      uid,
      resourceVersion: String(version),
      creationTimestamp: '2026-01-01T00:00:00Z',
      labels: { colour: label },
    },
  };
}

function kindOf(request: IncomingMessage, query: URLSearchParams): 'list' | 'watch' | 'other' {
  if (query.get('watch') === 'true') return 'watch';
  return request.method === 'GET' && query.has('limit') ? 'list' : 'other';
}

function configFor(server: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'mock', cluster: { server } }],
    users: [{ name: 'mock', user: { token: 'mock-token' } }],
    contexts: [{ name: 'mock', context: { cluster: 'mock', user: 'mock' } }],
    'current-context': 'mock',
  };
}
