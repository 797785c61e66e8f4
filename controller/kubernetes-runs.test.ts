import { beforeEach, describe, expect, it, vi } from 'vitest';
import { KubernetesRuns } from '#controller/kubernetes-runs.ts';
import { jobsPath } from '#controller/run-objects.ts';
import { runName, type RunRequest } from '#controller/runs.ts';
import { workerPodSchema } from '#controller/worker-pod.ts';
import { KubeError } from '#crds/kube/kube-error.ts';
import type { KubeObject } from '#crds/kube/kube-object.ts';
import { makeStore, type StoreChange } from '#crds/kube/store.ts';
import { buildRunRequest } from '#test/contract/runs.ts';

const PATH = jobsPath('media');
const [FIRST_ACCOUNT, SECOND_ACCOUNT] = ['acc_00000000000000000001', 'acc_00000000000000000002'];

/** Jobs of an API server that answers at once, with their reflector. */
class MockJobs {
  readonly store = makeStore(({ metadata }) => metadata.labels?.['mediajobs.dev/job']);
  readonly synced = Promise.resolve();
  readonly events: KubeObject[] = [];
  readonly #watchers: ((change: StoreChange) => void)[] = [];
  #version = 0;

  watch(onChange: (change: StoreChange) => void): void {
    this.#watchers.push(onChange);
    for (const object of this.store.list()) onChange({ type: 'applied', object });
  }

  see(job: KubeObject): KubeObject {
    this.#version += 1;
    const { name } = job.metadata;
    const uid = (job.metadata as { uid?: string }).uid ?? `uid-${this.#version}`;
    const creationTimestamp = '2026-01-01T00:00:00Z';
    const metadata = { ...job.metadata, creationTimestamp, uid, resourceVersion: String(this.#version) };
    this.#announce(this.store.apply({ ...job, metadata }));
    return this.find(`${PATH}/${name}`);
  }

  find(path: string): KubeObject {
    const job = this.store.get(path.slice(PATH.length + 1));
    if (job === undefined) throw new KubeError('no such Job', { status: 404 });
    return job;
  }

  readonly client = {
    get: async (path: string) => this.find(path),
    list: async (path: string, { fieldSelector = '' }: { fieldSelector?: string } = {}) => ({
      metadata: { resourceVersion: '1' },
      items: path.endsWith('/events') ? this.events.filter((event) => matches(event, fieldSelector)) : [],
    }),
    create: async (_path: string, body: object) => this.see(body as KubeObject),
    mergePatch: async (path: string, { metadata }: { metadata?: object }) => {
      const job = this.find(path);
      return this.see({ ...job, metadata: { ...job.metadata, ...metadata } });
    },
    delete: async (path: string) => this.#announce(this.store.remove(this.find(path))),
  };

  #announce(changes: readonly StoreChange[]): void {
    for (const change of changes) for (const watcher of this.#watchers) watcher(change);
  }
}

/** Returns whether an event has the kind and the reason of a field selector. */
function matches(event: KubeObject, fieldSelector: string): boolean {
  const { kind } = event['involvedObject'] as { kind: string };
  return fieldSelector === `involvedObject.kind=${kind},reason=${String(event['reason'])}`;
}

describe('KubernetesRuns', () => {
  let jobs: MockJobs;
  let changed: string[];
  let now: Date;
  /** Ends the current interval between reads of events. */
  let tick: () => void;

  beforeEach(() => {
    jobs = new MockJobs();
    changed = [];
    now = new Date('2026-01-01T00:00:00Z');
  });

  const pods = makeStore(({ metadata }) => metadata.labels?.['batch.kubernetes.io/job-name']);

  const open = (concurrency: number | null): KubernetesRuns => {
    const { signal } = new AbortController();
    const noPods = { store: pods, synced: Promise.resolve(), watch: () => undefined };
    const runs = new KubernetesRuns(
      {
        client: jobs.client,
        jobs,
        pods: noPods,
        time: { monotonic: () => 0, now: () => now, wait: () => new Promise<void>((next) => (tick = next)) },
        metrics: { staleRead: () => undefined },
      },
      { namespace: 'media', instance: 'release-a', pod: workerPodSchema.parse({ image: 'worker' }), concurrency },
      signal,
    );
    runs.watch((name) => changed.push(name), signal);
    return runs;
  };
  const request = (job: number, account = FIRST_ACCOUNT): RunRequest => ({
    ...buildRunRequest('succeed', job),
    account,
  });
  const nameOf = ({ owner, attempt }: RunRequest): string => runName(owner.name, attempt);
  const complete = (run: RunRequest): KubeObject =>
    jobs.see({
      ...jobs.find(`${PATH}/${nameOf(run)}`),
      status: { conditions: [{ type: 'Complete', status: 'True' }] },
    });

  it('labels Jobs and pods with the installation that makes them', async () => {
    const run = request(1);
    await open(null).start(run);
    const { metadata, spec } = jobs.find(`${PATH}/${nameOf(run)}`);
    const labels = { 'app.kubernetes.io/instance': 'release-a' };
    expect({ metadata, spec }).toMatchObject({ metadata: { labels }, spec: { template: { metadata: { labels } } } });
  });

  it('has no limit of runs without one', async () => {
    const runs = open(null);
    for (const job of [1, 2, 3]) expect(await runs.start(request(job))).toBe('started');
  });

  it('starts the run of the account with the fewest runs first, and notifies of it', async () => {
    const runs = open(2);
    const first = request(1);
    for (const run of [first, request(2)]) await runs.start(run);
    const [further, other] = [request(3), request(4, SECOND_ACCOUNT)];
    for (const run of [further, other]) expect(await runs.reserve(nameOf(run), run)).toBe(false);
    changed.length = 0;
    complete(first);
    expect(new Set(changed)).toEqual(new Set([first.owner.name, other.owner.name]));
    expect(await runs.start(further)).toBe('no-capacity');
    expect(await runs.start(other)).toBe('started');
    expect(await runs.start(further)).toBe('no-capacity');
  });

  it('counts the Jobs that another controller created, with their accounts', async () => {
    const before = open(null);
    const [first, second, third] = [request(1), request(2), request(3, SECOND_ACCOUNT)];
    for (const run of [first, second, third]) await before.start(run);
    const runs = open(2);
    const [further, other] = [request(4), request(5, SECOND_ACCOUNT)];
    for (const run of [other, further]) expect(await runs.start(run)).toBe('no-capacity');
    complete(first);
    expect(await runs.start(other)).toBe('no-capacity');
    complete(third);
    expect(await runs.start(further)).toBe('no-capacity');
    expect(await runs.start(other)).toBe('started');
  });

  it('releases the permit of a Job that somebody deleted', async () => {
    const runs = open(1);
    const first = request(1);
    await runs.start(first);
    expect(await runs.start(request(2))).toBe('no-capacity');
    await jobs.client.delete(`${PATH}/${nameOf(first)}`);
    expect(await runs.start(request(2))).toBe('started');
  });

  it.each(['stop', 'release'] as const)('releases the permit of a reserved run by %s', async (how) => {
    const runs = open(1);
    const first = request(1);
    await runs.reserve(nameOf(first), first);
    expect(await runs.start(request(2))).toBe('no-capacity');
    await (how === 'stop' ? runs.stop(nameOf(first)) : runs.release(first.owner.name));
    expect(await runs.start(request(2))).toBe('started');
  });

  describe('that do not start', () => {
    const eventOf = (kind: 'Job' | 'Pod', name: string, event: { reason: string; message: string }): KubeObject => ({
      metadata: {
        name: `${name}.1`,
        uid: `${name}-1`,
        resourceVersion: '1',
        creationTimestamp: '2026-01-01T00:00:00Z',
      },
      involvedObject: { kind, name },
      ...event,
    });
    /** Waits until the events were read once more. */
    const untilRead = async (): Promise<void> => {
      const before = tick;
      before();
      await vi.waitFor(() => expect(tick).not.toBe(before));
    };
    const waitingFor = async (runs: KubernetesRuns, { owner }: RunRequest, fresh = false): Promise<unknown> => {
      const [run] = await runs.observe(owner.name, fresh);
      return run?.status.state === 'waiting' ? run.status.waitingFor : run?.status;
    };

    it.each([
      ['cannot start until the installation changes', 'pods "x" is forbidden: violates PodSecurity "restricted"', true],
      ['may start later', 'pods "x" is forbidden: exceeded quota: compute, requested: pods=1', false],
    ])('%s, by the message of the refused pod, also in a read without cache', async (_what, message, isImpossible) => {
      const runs = open(null);
      const run = request(1);
      await runs.start(run);
      now = new Date('2026-01-01T00:20:00Z');
      jobs.events.push(eventOf('Job', nameOf(run), { reason: 'FailedCreate', message }));
      await untilRead();
      const reason = isImpossible ? 'refused' : 'quota';
      const refused = { reason, message: `Kubernetes refuses the pod: ${message}` };
      const since = isImpossible ? { impossibleSince: now } : {};
      for (const fresh of [false, true]) expect(await waitingFor(runs, run, fresh)).toEqual({ ...refused, ...since });
      expect(changed).toContain(run.owner.name);
    });

    it.each([
      ['FailedMount', 'MountVolume.SetUp failed for volume "run-spec" : secret "x" not found'],
      ['FailedCreatePodSandBox', 'Failed to create pod sandbox: no runtime for "gvisor" is configured'],
    ])('show the message of the node when it cannot prepare the pod: %s', async (reason, message) => {
      const runs = open(null);
      const run = request(2);
      await runs.start(run);
      const [name, pod] = [nameOf(run), `${nameOf(run)}-pod`];
      pods.apply({
        spec: { nodeName: 'node-1' },
        metadata: {
          name: pod,
          uid: pod,
          resourceVersion: '1',
          creationTimestamp: '2026-01-01T00:00:00Z',
          labels: { 'batch.kubernetes.io/job-name': name },
          ownerReferences: [
            { apiVersion: 'batch/v1', kind: 'Job', name, uid: jobs.find(`${PATH}/${name}`).metadata.uid },
          ],
        },
        status: {
          phase: 'Pending',
          containerStatuses: [{ name: 'worker', state: { waiting: { reason: 'ContainerCreating' } } }],
        },
      });
      jobs.events.push(eventOf('Pod', pod, { reason, message }));
      jobs.events.push(eventOf('Pod', 'other-pod', { reason, message: 'other' }));
      expect(await waitingFor(runs, run)).toBeNull();
      for (let reads = 0; reads < 2; reads += 1) await untilRead();
      expect(await waitingFor(runs, run)).toEqual({
        reason: 'not-started',
        message: `The node cannot prepare the pod: ${message}`,
      });
    });
  });

  it('removes the Job of an ended run whose pod an injected container keeps running', async () => {
    const runs = open(null);
    const ended = request(1);
    await runs.start(ended);
    const name = nameOf(ended);
    const { uid } = jobs.find(`${PATH}/${name}`).metadata;
    const message = JSON.stringify({ outcome: 'failed', error: { code: 'timeout', message: 'No.' } });
    pods.apply({
      spec: { nodeName: 'node-1' },
      metadata: {
        name: `${name}-x`,
        uid: 'uid-pod',
        resourceVersion: '1',
        creationTimestamp: '2026-01-01T00:00:00Z',
        labels: { 'batch.kubernetes.io/job-name': name },
        ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name, uid }],
      },
      status: {
        phase: 'Running',
        containerStatuses: [
          { name: 'istio-proxy', state: { running: {} } },
          { name: 'worker', state: { terminated: { exitCode: 0, message } } },
        ],
      },
    });
    expect((await runs.observe(ended.owner.name)).map(({ status }) => status.state)).toEqual(['ended']);
    await runs.release(ended.owner.name);
    expect(() => jobs.find(`${PATH}/${name}`)).toThrow('no such Job');
  });
});
