import type { IncomingMessage, ServerResponse } from 'node:http';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { connect, type Connection } from '#crds/kube/connection.ts';
import { makeKubeMetrics } from '#crds/kube/kube-metrics.ts';
import { startLeaderProcess, type LeaderProcess, type Leadership } from '#crds/kube/leader-process.ts';
import { makeLog } from '#crds/process/log.ts';
import {
  line,
  listOf,
  mockObject,
  startMockApiServer,
  stream,
  type MockApiServer,
} from '#test/support/mock-api-server.ts';

const MINUTE = 60_000;
const WAIT = { timeout: 10_000, interval: 10 };
const THINGS = '/apis/mock/v1/namespaces/test/things';

describe('a leader process', () => {
  let server: MockApiServer;
  let connection: Connection;
  let leader: LeaderProcess;
  let led: Leadership[];
  let lost: string[];
  let passed: number;
  let served: boolean;
  let denied: Set<string>;
  let lease: object | null;

  /** Responds as an API server with one custom resource, permissions and one Lease. */
  const respond = (request: IncomingMessage, response: ServerResponse): void => {
    let text = '';
    request.setEncoding('utf8').on('data', (part: string) => (text += part));
    request.on('end', () => {
      const [status, body] = decide(request, text);
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
  };
  const decide = ({ method, url = '' }: IncomingMessage, text: string): [number, object] => {
    const { pathname } = new URL(url, 'http://mock');
    if (pathname === '/apis/mock/v1') return served ? [200, { resources: [{ name: 'things' }] }] : [404, {}];
    if (pathname.endsWith('selfsubjectaccessreviews')) {
      const { spec } = JSON.parse(text) as { spec: { resourceAttributes: { verb: string } } };
      return [201, { status: { allowed: !denied.has(spec.resourceAttributes.verb) } }];
    }
    if (method !== 'GET') lease = { ...(JSON.parse(text) as object), ...mockObject('lead', passed) };
    return lease === null ? [404, {}] : [200, lease];
  };

  beforeEach(async () => {
    server = await startMockApiServer();
    server.others(...Array.from({ length: 10_000 }, () => respond));
    connection = connect(server.kubeconfig);
    [served, denied, lease, passed, led, lost] = [true, new Set(), null, 0, [], []];
  });
  afterEach(async () => {
    await leader.stop().catch(() => undefined);
    await connection.close();
    await server.close();
  });

  const start = (): void => {
    const wait = (_ms: number, signal: AbortSignal): Promise<void> =>
      new Promise((resolve) => {
        setTimeout(resolve, 5);
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
    const time = { monotonic: () => performance.now() + passed, now: () => new Date(), wait, random: () => 0.5 };
    leader = startLeaderProcess(
      { connection, time, log: makeLog('test', 'silent'), metrics: makeKubeMetrics(new Registry()) },
      {
        lease: { namespace: 'test', name: 'lead' },
        identity: 'this process',
        rate: { perSecond: 1000, burst: 1000 },
        needs: {
          namespace: 'test',
          customResource: { groupVersion: 'mock/v1', plural: 'things', crd: 'things.mock' },
          access: [{ group: 'mock', resource: 'things', verbs: ['list', 'watch'] }],
        },
        work(leadership) {
          led.push(leadership);
          leadership.reflect({ path: THINGS });
          return { stop: async () => undefined };
        },
        onLost: (why) => lost.push(why),
      },
    );
  };
  /** Resolves when the process leads and has listed everything. */
  const begun = async (): Promise<void> => {
    await vi.waitFor(() => expect(led).toHaveLength(1), WAIT);
    await vi.waitFor(() => expect(leader.notReady()).toBeNull(), WAIT);
  };

  it('is not ready without its custom resource and starts when it exists', async () => {
    served = false;
    start();
    await vi.waitFor(
      () => expect(leader.notReady()).toContain('things.mock is missing: install the chart with crds.enabled=true'),
      WAIT,
    );
    expect(led).toEqual([]);
    server.lists(listOf('1', []));
    served = true;
    await begun();
  });

  it('is not ready without a permission and starts when it is granted', async () => {
    denied.add('watch');
    start();
    const missing = 'may not watch things.mock in namespace test: add the verbs to its Role.';
    await vi.waitFor(() => expect(leader.notReady()).toContain(missing), WAIT);
    expect(led).toEqual([]);
    server.lists(listOf('1', []));
    denied.clear();
    await begun();
  });

  it('is not ready until everything is listed once', async () => {
    start();
    await vi.waitFor(() => expect(led).toHaveLength(1), WAIT);
    expect(leader.notReady()).toContain('first lists of the API server are not complete');
  });

  it('is not alive after five minutes without a byte of a watch', async () => {
    server.lists(listOf('1', []));
    server.watches(stream([line('ADDED', mockObject('a', 2))], 'silence'));
    start();
    await begun();
    expect(leader.notAlive()).toBeNull();
    passed = 6 * MINUTE;
    expect(leader.notAlive()).toMatch(/The API server has not responded for 36\d s\./);
  });

  it('is not alive after five minutes without access to its Lease, also on standby', async () => {
    lease = { ...mockObject('lead', 1), spec: { holderIdentity: 'another', leaseDurationSeconds: 3600 } };
    start();
    await vi.waitFor(() => expect(leader.holder()).toBe('another'), WAIT);
    expect(leader.notReady()).toBeNull();
    expect(leader.notAlive()).toBeNull();
    await server.down();
    passed = 6 * MINUTE;
    await vi.waitFor(() => expect(leader.notAlive()).toContain('The API server has not responded'), WAIT);
    await server.up();
    server.others(respond);
    await vi.waitFor(() => expect(leader.notAlive()).toBeNull(), WAIT);
  });

  it('sends no writes after another process may have acquired its Lease', async () => {
    server.lists(listOf('1', []));
    start();
    await begun();
    await server.down();
    passed = 16_000;
    await vi.waitFor(() => expect(lost).toHaveLength(1), WAIT);
    await expect(led[0]?.client.create(THINGS, {})).rejects.toThrow('no longer the leader');
    await server.up();
  });
});
