/**
 * Proxy between a process and the API server: counts its writes, ends the process before or after one of them,
 * and serves watches badly. What a process says about itself (Leases, reviews of its rights, events) is passed on
 * and counts as no write.
 */
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Agent, request as upstreamRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { closeServer, listen } from '#crds/process/ops-server.ts';

/** Faults of a watch; the last two affect every request. */
export const TROUBLES = ['cut', 'doubled', 'late', 'stale', 'expired', 'throttled', 'unreachable'] as const;
export type Trouble = (typeof TROUBLES)[number];

export interface KubeProxyPlan {
  /** Kills the process before the server receives that write, or after the write and before its response. */
  readonly death?: { readonly write: number; readonly when: 'before' | 'after'; readonly kill: () => void };
  /**
   * `cut` in the middle of a line after some chunks, every line twice (`doubled`), or `late`; `stale` lists what
   * the server has in its cache, whatever was requested; after some chunks a version that is too old (`expired`);
   * 429 to every third request (`throttled`); `unreachable` for some seconds from the first write on.
   */
  readonly trouble?: Trouble;
}

export interface KubeProxy {
  readonly url: string;
  /** Resolves when the process was ended. */
  readonly died: Promise<void>;
  /** Method and path of each write so far. */
  readonly writes: readonly string[];
  close(): Promise<void>;
}

const OF_ITSELF = /\/(leases|selfsubjectaccessreviews|events)(\/|$|\?)/;
const LATE_MS = 300;
/** With the leader's next renewal 2 seconds later, well within the 10 seconds after which it exits, and a kubelet restarts it. */
const UNREACHABLE_MS = 5000;

export async function startKubeProxy(kubeconfig: string, plan: KubeProxyPlan = {}): Promise<KubeProxy> {
  const { server: upstream, ca } = clusterOf(kubeconfig);
  const agent = new Agent({ ca, keepAlive: true });
  const died = Promise.withResolvers<void>();
  const writes: string[] = [];
  let dead = false;
  // An event has several chunks: a watch that was always cut at the same one would never deliver a large object.
  let patience = 2;
  let requests = 0;
  let unreachableUntil: number | null = null;
  /** Returns whether the server is unreachable: for some time from its first write on. */
  const isUnreachable = (request: IncomingMessage): boolean => {
    if (plan.trouble !== 'unreachable') return false;
    if (isWrite(request)) unreachableUntil ??= performance.now() + UNREACHABLE_MS;
    return unreachableUntil !== null && performance.now() < unreachableUntil;
  };
  const isThrottled = (request: IncomingMessage): boolean => {
    requests += 1;
    return plan.trouble === 'throttled' && requests % 3 === 0 && !OF_ITSELF.test(request.url ?? '');
  };

  const die = (request: IncomingMessage): void => {
    dead = true;
    plan.death?.kill();
    request.socket.destroy();
    died.resolve();
  };
  const isTheOne = (number: number, when: 'before' | 'after'): boolean =>
    plan.death?.write === number && plan.death.when === when;

  const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (dead || isUnreachable(request)) return void request.socket.destroy();
    if (isThrottled(request)) return throttle(request, response);
    const [path] = (request.url ?? '').split('?');
    const number = isWrite(request) ? writes.push(`${request.method} ${path}`) : 0;
    if (isTheOne(number, 'before')) return die(request);
    const reply = await forward(request, { upstream, agent, isStale: plan.trouble === 'stale' }, response);
    if (isTheOne(number, 'after')) {
      reply.resume();
      reply.once('end', () => die(request));
      return;
    }
    response.writeHead(reply.statusCode ?? 502, reply.headers);
    response.flushHeaders();
    if (!isWatch(request) || !isOfWatches(plan.trouble)) return pipeline(reply, response);
    patience += 1;
    await sendBadly(reply, response, { trouble: plan.trouble, cutAt: patience });
  };

  const server = createServer((request, response) => {
    // A client that disconnects during a response gets nothing more.
    pass(request, response).catch(() => response.destroy());
  });
  await listen(server, { host: '127.0.0.1', port: 0 });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    died: died.promise,
    writes,
    async close() {
      agent.destroy();
      await closeServer(server);
    },
  };
}

function clusterOf(kubeconfig: string): { server: string; ca: Buffer } {
  const { clusters } = JSON.parse(readFileSync(kubeconfig, 'utf8')) as {
    clusters: { cluster: { server: string; 'certificate-authority': string } }[];
  };
  const [{ cluster } = { cluster: { server: '', 'certificate-authority': '' } }] = clusters;
  return { server: cluster.server, ca: readFileSync(cluster['certificate-authority']) };
}

function isWrite({ method, url = '' }: IncomingMessage): boolean {
  return method !== 'GET' && !OF_ITSELF.test(url);
}

const OF_WATCHES = ['cut', 'doubled', 'late', 'expired'] as const;
type WatchTrouble = (typeof OF_WATCHES)[number];

function isOfWatches(trouble: Trouble | undefined): trouble is WatchTrouble {
  return OF_WATCHES.some((one) => one === trouble);
}

function throttle(request: IncomingMessage, response: ServerResponse): void {
  request.resume();
  response.writeHead(429, { 'retry-after': '1', 'content-type': 'application/json' });
  response.end(statusOf(429, 'TooManyRequests'));
}

function statusOf(code: number, reason: string): string {
  return JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', message: reason, reason, code });
}

function isWatch({ url = '' }: IncomingMessage): boolean {
  return url.includes('watch=true');
}

function forward(
  request: IncomingMessage,
  to: { upstream: string; agent: Agent; isStale: boolean },
  response: ServerResponse,
): Promise<IncomingMessage> {
  const url = new URL(request.url ?? '/', to.upstream);
  if (to.isStale && url.searchParams.has('limit') && !url.searchParams.has('continue'))
    url.searchParams.set('resourceVersion', '0');
  const { host: _, ...headers } = request.headers;
  return new Promise((resolve, reject) => {
    const sent = upstreamRequest(url, { method: request.method, headers, agent: to.agent }, resolve);
    sent.once('error', reject);
    response.once('close', () => sent.destroy());
    request.pipe(sent);
  });
}

async function sendBadly(
  reply: IncomingMessage,
  response: ServerResponse,
  { trouble, cutAt }: { trouble: WatchTrouble; cutAt: number },
): Promise<void> {
  let count = 0;
  for await (const chunk of reply as AsyncIterable<Buffer>) {
    count += 1;
    if (trouble === 'cut' && count === cutAt) {
      response.write(chunk.subarray(0, Math.floor(chunk.length / 2)), () => response.destroy());
      return;
    }
    // Between two lines, as a server sends it.
    if (trouble === 'expired' && count >= cutAt && chunk.at(-1) === 10) {
      response.write(chunk);
      return void response.end(`{"type":"ERROR","object":${statusOf(410, 'Expired')}}\n`);
    }
    if (trouble === 'late') await new Promise((resolve) => setTimeout(resolve, LATE_MS));
    response.write(chunk);
    if (trouble === 'doubled' && chunk.at(-1) === 10) response.write(chunk);
  }
  response.end();
}
