/**
 * Stands between a process and the API server: counts its writes, ends the process before or after one of them,
 * and serves watches badly. What a process says about itself (Leases, reviews of its rights, events) is passed on
 * and counts as no write.
 */
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Agent, request as upstreamRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { closeServer, listen } from '#crds/shared/ops-server.ts';

/** What may befall a watch on its way. */
export const TROUBLES = ['cut', 'doubled', 'late', 'stale'] as const;
export type Trouble = (typeof TROUBLES)[number];

export interface KubeProxyPlan {
  /** Before the server hears of that write, or after it has done it and before the process hears of it. */
  readonly death?: { readonly write: number; readonly when: 'before' | 'after'; readonly kill: () => void };
  /**
   * `cut` in the middle of a line after some chunks, every line twice (`doubled`), or `late`; `stale` lists what
   * the server has in its cache, whatever was asked for.
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

export async function startKubeProxy(kubeconfig: string, plan: KubeProxyPlan = {}): Promise<KubeProxy> {
  const { server: upstream, ca } = clusterOf(kubeconfig);
  const agent = new Agent({ ca, keepAlive: true });
  const died = Promise.withResolvers<void>();
  const writes: string[] = [];
  let dead = false;
  // An event comes in several chunks: a watch that was always cut at the same one would never bring a large object.
  let patience = 2;

  const die = (request: IncomingMessage): void => {
    dead = true;
    plan.death?.kill();
    request.socket.destroy();
    died.resolve();
  };
  const isTheOne = (number: number, when: 'before' | 'after'): boolean =>
    plan.death?.write === number && plan.death.when === when;

  const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (dead) return void request.socket.destroy();
    const number = isWrite(request) ? writes.push(`${request.method} ${request.url}`) : 0;
    if (isTheOne(number, 'before')) return die(request);
    const answer = await forward(request, { upstream, agent, isStale: plan.trouble === 'stale' }, response);
    if (isTheOne(number, 'after')) {
      answer.resume();
      answer.once('end', () => die(request));
      return;
    }
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    response.flushHeaders();
    if (!isWatch(request) || plan.trouble === undefined || plan.trouble === 'stale') return pipeline(answer, response);
    patience += 1;
    await sendBadly(answer, response, { trouble: plan.trouble, cutAt: patience });
  };

  const server = createServer((request, response) => {
    // Whoever goes away in mid-answer has nothing more to hear.
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
  answer: IncomingMessage,
  response: ServerResponse,
  { trouble, cutAt }: { trouble: Exclude<Trouble, 'stale'>; cutAt: number },
): Promise<void> {
  let count = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    count += 1;
    if (trouble === 'cut' && count === cutAt) {
      response.write(chunk.subarray(0, Math.floor(chunk.length / 2)), () => response.destroy());
      return;
    }
    if (trouble === 'late') await new Promise((resolve) => setTimeout(resolve, LATE_MS));
    response.write(chunk);
    if (trouble === 'doubled' && chunk.at(-1) === 10) response.write(chunk);
  }
  response.end();
}
