import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KubeError } from '#crds/kube/kube-error.ts';
import type { KubeObject } from '#crds/kube/kube-object.ts';
import { startElector, type Elector } from '#crds/kube/lease-elector.ts';
import { makeLog } from '#crds/process/log.ts';

const PATH = '/apis/coordination.k8s.io/v1/namespaces/test/leases';

/** Simulates an API server with one Lease, and a clock that advances only while all electors wait. */
function makeWorld() {
  let lease: KubeObject | null = null;
  let version = 0;
  let millis = 0;
  const sleepers = new Set<{ readonly at: number; readonly wake: () => void }>();
  const world = {
    reachable: true,
    /** While set, reads have no response until it resolves. */
    hanging: null as PromiseWithResolvers<void> | null,
    spec: (): Record<string, unknown> => (lease?.['spec'] ?? {}) as Record<string, unknown>,
    client: {
      async get() {
        await world.hanging?.promise;
        if (!world.reachable) throw new KubeError('no response', { status: 0 });
        if (lease === null) throw new KubeError('none', { status: 404 });
        return lease;
      },
      async create(_path: string, body: object) {
        if (!world.reachable) throw new KubeError('no response', { status: 0 });
        if (lease !== null) throw new KubeError('exists', { status: 409 });
        return store(body as KubeObject);
      },
      async replace(_path: string, body: object) {
        if (!world.reachable) throw new KubeError('no response', { status: 0 });
        if ((body as KubeObject).metadata.resourceVersion !== lease?.metadata.resourceVersion)
          throw new KubeError('conflict', { status: 409 });
        return store(body as KubeObject);
      },
    },
    time: {
      monotonic: () => millis,
      now: () => new Date(Date.parse('2026-01-01T00:00:00Z') + millis),
      random: () => 0,
      wait: (ms: number, signal: AbortSignal) =>
        new Promise<void>((resolve) => {
          const sleeper = { at: millis + ms, wake: resolve };
          if (signal.aborted) return resolve();
          sleepers.add(sleeper);
          signal.addEventListener('abort', () => {
            sleepers.delete(sleeper);
            resolve();
          });
        }),
    },
    async pass(seconds: number) {
      const end = millis + seconds * 1000;
      for (;;) {
        await settle();
        const [next] = [...sleepers].filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at);
        if (next === undefined) break;
        sleepers.delete(next);
        millis = Math.max(millis, next.at);
        next.wake();
      }
      millis = end;
      await settle();
    },
    /** Simulates a suspended process: the clock advances without an iteration. */
    sleep(seconds: number) {
      millis += seconds * 1000;
    },
  };
  const store = (body: KubeObject): KubeObject => {
    version += 1;
    lease = { ...body, metadata: { ...body.metadata, resourceVersion: String(version) } };
    return lease;
  };
  return world;
}

function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

describe('elections by one Lease', () => {
  let world: ReturnType<typeof makeWorld>;
  let story: string[];
  let electors: Elector[];

  beforeEach(() => {
    world = makeWorld();
    story = [];
    electors = [];
  });
  afterEach(async () => {
    world.reachable = true;
    world.hanging?.resolve();
    await Promise.all(electors.map((elector) => elector.release()));
  });

  const join = (identity: string): Elector => {
    const elector = startElector(
      { client: world.client, time: world.time, log: makeLog('test', 'silent') },
      {
        path: PATH,
        name: 'lead',
        identity,
        onLeading: () => story.push(`${identity} leads`),
        onLost: () => story.push(`${identity} lost`),
      },
    );
    electors.push(elector);
    return elector;
  };

  it('have one leader and times with six digits', async () => {
    const first = join('a');
    const second = join('b');
    await world.pass(60);
    expect(story).toEqual(['a leads']);
    expect([first.isLeading(), second.isLeading()]).toEqual([true, false]);
    expect([first.holder(), second.holder()]).toEqual(['a', 'a']);
    expect(world.spec()).toMatchObject({
      holderIdentity: 'a',
      leaseDurationSeconds: 15,
      acquireTime: '2026-01-01T00:00:00.000000Z',
      renewTime: expect.stringMatching(/^2026-01-01T00:00:\d\d\.\d{6}Z$|^2026-01-01T00:01:00\.000000Z$/),
    });
  });

  it('have a new leader at once after a release of the Lease', async () => {
    const first = join('a');
    join('b');
    await world.pass(4);
    await first.release();
    await world.pass(3);
    expect(story).toEqual(['a leads', 'b leads']);
    expect(world.spec()).toMatchObject({ holderIdentity: 'b' });
  });

  it('end the leadership without a renewal before another process may lead', async () => {
    const first = join('a');
    await world.pass(4);
    world.reachable = false;
    await world.pass(12);
    expect(story).toEqual(['a leads', 'a lost']);
    expect(first.isLeading()).toBe(false);
    world.reachable = true;
    join('b');
    await world.pass(14);
    expect(story).toEqual(['a leads', 'a lost']);
    await world.pass(4);
    expect(story).toEqual(['a leads', 'a lost', 'b leads']);
  });

  it('end the leadership at its deadline while a request has no response', async () => {
    join('a');
    await world.pass(4);
    world.hanging = Promise.withResolvers();
    await world.pass(11);
    expect(story).toEqual(['a leads', 'a lost']);
  });

  it('do not begin a leadership by a request that was in flight at the release', async () => {
    world.hanging = Promise.withResolvers();
    const first = join('a');
    const released = first.release();
    world.hanging.resolve();
    await released;
    join('b');
    await world.pass(3);
    expect(story).toEqual(['b leads']);
  });

  it('resolve the release of a Lease that cannot be reached', async () => {
    const first = join('a');
    await world.pass(4);
    world.reachable = false;
    await expect(first.release()).resolves.toBeUndefined();
    expect(first.isLeading()).toBe(false);
  });

  it('end the leadership of a process that was suspended for longer than the Lease', async () => {
    const first = join('a');
    await world.pass(4);
    world.sleep(30);
    expect(first.isLeading()).toBe(false);
  });

  it('use the monotonic clock and not the times in the Lease', async () => {
    join('a');
    await world.pass(4);
    await electors[0]?.release();
    await world.client.replace(PATH, {
      ...(await world.client.get()),
      spec: { holderIdentity: 'far behind', leaseDurationSeconds: 15, renewTime: '1999-01-01T00:00:00.000000Z' },
    });
    join('b');
    await world.pass(14);
    expect(story).toEqual(['a leads']);
    await world.pass(4);
    expect(story).toEqual(['a leads', 'b leads']);
  });
});
