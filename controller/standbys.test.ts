import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { jobsPath } from '#controller/run-objects.ts';
import { runName, type RunRequest } from '#controller/runs.ts';
import type { BindingResult } from '#controller/standby-binding.ts';
import { Standbys, type StandbysDeps } from '#controller/standbys.ts';
import { workerPodSchema } from '#controller/worker-pod.ts';
import { completeRunSpec, type RunSpec } from '#crds/contract/run-spec.ts';
import { KubeError } from '#crds/kube/kube-error.ts';
import type { KubeObject } from '#crds/kube/kube-object.ts';
import { makeStore, type FilledStore, type StoreChange } from '#crds/kube/store.ts';
import { systemTime } from '#crds/kube/time.ts';
import { makeLog } from '#crds/process/log.ts';
import { buildRunRequest } from '#test/contract/runs.ts';
import { buildTicket } from '#test/support/build-media-job.ts';

const PATH = jobsPath('media');
const BOUND = 'mediajobs.dev/bound-to';

/** Objects of an API server that answers at once and refuses patches of an older version, with their reflector. */
class MockObjects {
  readonly store: FilledStore = makeStore(({ metadata }) => metadata.labels?.['batch.kubernetes.io/job-name']);
  readonly synced = Promise.resolve();
  /** true: the watch delivers nothing, and the store stays as it is. */
  isDelayed = false;
  /** Objects of the server. */
  readonly #objects = new Map<string, KubeObject>();
  readonly #watchers: ((change: StoreChange) => void)[] = [];
  #version = 0;

  watch(onChange: (change: StoreChange) => void): void {
    this.#watchers.push(onChange);
  }

  put(object: { metadata: object }): KubeObject {
    this.#version += 1;
    const fresh = { uid: `uid-${this.#version}`, creationTimestamp: new Date().toISOString() };
    const metadata = { ...fresh, ...object.metadata, resourceVersion: String(this.#version) };
    const stored = { ...object, metadata } as KubeObject;
    this.#objects.set(stored.metadata.name, stored);
    if (!this.isDelayed) this.#announce(this.store.apply(stored));
    return stored;
  }

  read(name: string): KubeObject {
    const found = this.#objects.get(name);
    if (found === undefined) throw new KubeError('no such object', { status: 404 });
    return found;
  }

  remove(name: string): void {
    const found = this.store.get(name);
    if (found === undefined) throw new KubeError('no such object', { status: 404 });
    this.#announce(this.store.remove(found));
  }

  patch(
    name: string,
    patch: { metadata: { resourceVersion?: string; annotations?: object; labels?: object } },
  ): KubeObject {
    const found = this.read(name);
    const { resourceVersion, annotations, labels, ...rest } = patch.metadata;
    if (resourceVersion !== undefined && resourceVersion !== found.metadata.resourceVersion)
      throw new KubeError('the object was changed', { status: 409 });
    const merged = {
      annotations: { ...found.metadata.annotations, ...annotations },
      labels: { ...found.metadata.labels, ...labels },
    };
    return this.put({ ...found, metadata: { ...found.metadata, ...rest, ...merged } });
  }

  #announce(changes: readonly StoreChange[]): void {
    for (const change of changes) for (const watcher of this.#watchers) watcher(change);
  }
}

describe('Standbys', () => {
  let jobs: MockObjects;
  let pods: MockObjects;
  let runJobs: Map<string, KubeObject>;
  let released: Set<string>;
  let bindings: BindingResult[];
  let changed: string[];
  let ended: AbortController;
  let completeSpec: StandbysDeps['completeSpec'];

  beforeEach(() => {
    jobs = new MockObjects();
    pods = new MockObjects();
    runJobs = new Map();
    released = new Set();
    bindings = [];
    changed = [];
    ended = new AbortController();
    completeSpec = async ({ spec }) => completeRunSpec(spec, buildTicket());
  });
  afterEach(() => ended.abort());

  const open = (settings: object = { standby: { video: 1 } }): Standbys => {
    const standbys = new Standbys(
      {
        client: {
          get: async (path) => jobs.read(path.slice(PATH.length + 1)),
          create: async (_path, body) => jobs.put(body as { metadata: object }),
          mergePatch: async (path, body) =>
            jobs.patch(path.slice(PATH.length + 1), body as Parameters<MockObjects['patch']>[1]),
          delete: async (path) => jobs.remove(path.slice(PATH.length + 1)),
        },
        jobs,
        pods,
        // The token of a pod is its uid here; `pod-token.test.ts` has the real ones.
        verifyToken: async (token) => (token === 'invalid' ? null : token),
        completeSpec: async (request) => completeSpec(request),
        time: systemTime,
        log: makeLog('test', 'silent'),
        metrics: { staleRead: () => undefined },
        onBinding: (result) => bindings.push(result),
      },
      {
        namespace: 'media',
        instance: 'release-a',
        pod: workerPodSchema.parse({ image: 'worker', ...settings }),
        url: 'http://controller:8091/standby',
      },
      ended.signal,
    );
    standbys.start(
      {
        synced: Promise.resolve(),
        runJob: (name) => runJobs.get(name),
        isReleased: (name) => released.has(name),
        onChange: (run) => changed.push(run),
        onPodDeleted: () => undefined,
      },
      ended.signal,
    );
    return standbys;
  };
  /** Runs the pod of the only standby without one. Returns the standby's name and the pod's uid. */
  const startPod = async (): Promise<{ name: string; uid: string }> => {
    const job = await vi.waitFor(() => {
      const found = jobs.store.list().find(({ metadata }) => pods.store.indexed(metadata.name).length === 0);
      if (found === undefined) throw new Error('there is no standby without a pod');
      return found;
    });
    const { name, uid } = job.metadata;
    const pod = pods.put({
      metadata: {
        name: `${name}-x`,
        labels: { 'batch.kubernetes.io/job-name': name },
        ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name, uid }],
      },
      status: { phase: 'Running', containerStatuses: [{ name: 'worker', state: { running: {} } }] },
    } as { metadata: object });
    return { name, uid: pod.metadata.uid };
  };
  const poll = (standbys: Standbys, uid: string) => standbys.poll(uid, ended.signal);
  const whenReady = (standbys: Standbys): Promise<unknown> =>
    vi.waitFor(() => expect(standbys.list().map(({ state }) => state)).toContain('ready'));
  /** Creates the Job of an attempt that names its standby. */
  const nameStandby = (request: RunRequest, standby: string): void => {
    const name = runName(request.owner.name, request.attempt);
    const metadata = {
      name,
      uid: 'u',
      resourceVersion: '1',
      creationTimestamp: '',
      annotations: { 'mediajobs.dev/runs-in': standby },
    };
    runJobs.set(name, { metadata });
  };
  const request = (job: number, changes: Partial<RunRequest> = {}): RunRequest => ({
    ...buildRunRequest('any', job),
    ...changes,
  });
  const sized = (size: number | null): RunRequest => {
    const { spec, ...rest } = request(1);
    return { ...rest, spec: { ...spec, input: { size } } };
  };

  it('binds a ready standby to one of two attempts, and sends the run to its pod only when told', async () => {
    const standbys = open();
    const { name, uid } = await startPod();
    const response = poll(standbys, uid);
    await whenReady(standbys);
    const [first, second] = await Promise.all([standbys.bind(request(1)), standbys.bind(request(2))]);
    if (first === 'wait') throw new Error('only standbys of several jobs are waited for');
    expect([first?.name, second]).toEqual([name, null]);
    expect(bindings.toSorted()).toEqual(['bound', 'none_ready']);
    expect(jobs.store.get(name)?.metadata.annotations?.[BOUND]).toBe(runName(request(1).owner.name, 1));
    nameStandby(request(1), name);
    first?.send();
    first?.end();
    const { status, body } = await response;
    expect([status, (body as RunSpec).jobId]).toEqual([200, request(1).spec.jobId]);
    expect((await poll(standbys, uid)).body).toEqual(body);
  });

  it.each([
    ['binds one whose status Kubernetes has changed meanwhile', {}, 'bound'],
    ['binds none that another controller has bound meanwhile', { [BOUND]: 'job-other-a1' }, 'failed'],
  ])('%s', async (_what, annotations, result) => {
    const standbys = open();
    const { name, uid } = await startPod();
    void poll(standbys, uid);
    await whenReady(standbys);
    const before = jobs.store.get(name) as KubeObject;
    jobs.isDelayed = true;
    jobs.put({
      ...before,
      metadata: { ...before.metadata, annotations: { ...before.metadata.annotations, ...annotations } },
    });
    expect((await standbys.bind(request(1))) !== null).toBe(result === 'bound');
    expect(bindings).toEqual([result]);
  });

  it.each([
    ['is too large', () => sized(10_000_001)],
    ['has an unknown size', () => sized(null)],
    ['is of another kind', () => request(1, { kind: 'image' })],
    ['is of unknown kind', () => request(1, { kind: null })],
    ['is that of a second attempt', () => request(1, { attempt: 2 })],
  ])('binds none when the input %s', async (_what, make) => {
    const standbys = open();
    const { uid } = await startPod();
    void poll(standbys, uid);
    await whenReady(standbys);
    expect(await standbys.bind(make())).toBeNull();
    expect(bindings).toEqual([]);
  });

  it('deletes a standby that was bound to an attempt whose Job does not name it, and starts another', async () => {
    const standbys = open();
    const { name, uid } = await startPod();
    const response = poll(standbys, uid);
    await whenReady(standbys);
    const binding = await standbys.bind(request(1));
    expect(jobs.store.get(name)).toBeDefined();
    if (binding !== 'wait') binding?.end();
    await vi.waitFor(() => expect(jobs.store.get(name)).toBeUndefined());
    pods.remove(`${name}-x`);
    expect((await response).status).toBe(204);
    await vi.waitFor(() => expect(jobs.store.list()).toHaveLength(1), { timeout: 5000 });
  });

  it('binds none when the attempt is no longer current, or the recorder does not respond', async () => {
    const standbys = open({ standby: { video: 2 } });
    for (const complete of [async () => null, () => Promise.reject(new Error('no response'))]) {
      const { uid } = await startPod();
      void poll(standbys, uid);
      await whenReady(standbys);
      completeSpec = complete;
      expect(await standbys.bind(request(1))).toBeNull();
    }
    expect(bindings).toEqual(['failed', 'failed']);
  });

  it('ends a pod whose run another controller has sent, and leaves it to its attempt', async () => {
    const standbys = open();
    const { name, uid } = await startPod();
    nameStandby(request(1), name);
    jobs.patch(name, { metadata: { annotations: { [BOUND]: runName(request(1).owner.name, 1) } } });
    expect(await poll(standbys, uid)).toEqual({ status: 410 });
    expect(standbys.list().find((one) => one.name === name)?.state).toBe('bound');
    pods.put({ ...(pods.store.get(`${name}-x`) as KubeObject) });
    expect(changed).toContain(runName(request(1).owner.name, 1));
  });

  it('notifies of the end of a pod whose Job was deleted before', async () => {
    open();
    const { name } = await startPod();
    const run = runName(request(1).owner.name, 1);
    jobs.patch(name, { metadata: { annotations: { [BOUND]: run } } });
    jobs.remove(name);
    changed = [];
    pods.remove(`${name}-x`);
    expect(changed).toEqual([run]);
  });

  it('refuses pods that are not those of standbys', async () => {
    const standbys = open();
    const { name } = await startPod();
    expect((await poll(standbys, 'invalid')).status).toBe(401);
    expect((await poll(standbys, 'a pod that the watch has not delivered')).status).toBe(503);
    const labels = { 'batch.kubernetes.io/job-name': name };
    const stranger = pods.put({ metadata: { name: 'stranger', labels } });
    expect((await poll(standbys, stranger.metadata.uid)).status).toBe(401);
  });

  it('binds none whose connection has ended', async () => {
    const standbys = open();
    const { uid } = await startPod();
    const connection = new AbortController();
    const response = standbys.poll(uid, connection.signal);
    await whenReady(standbys);
    connection.abort();
    expect((await response).status).toBe(204);
    expect(await standbys.bind(request(1))).toBeNull();
    expect(bindings).toEqual(['none_ready']);
  });

  describe('with several jobs per pod', () => {
    const SETTINGS = { standby: { video: 1 }, jobsPerPod: 3 };
    const runOf = ({ owner, attempt }: RunRequest): string => runName(owner.name, attempt);
    const finished = ({ spec, attempt }: RunRequest) => ({ jobId: spec.jobId, attempt });
    const again = (standbys: Standbys, uid: string, after: RunRequest) =>
      standbys.poll(uid, ended.signal, finished(after));
    /** Sends the run of a binding, as `KubernetesRuns` does. */
    const perform = (binding: Awaited<ReturnType<Standbys['bind']>>, of: RunRequest): void => {
      if (binding === null || binding === 'wait') throw new Error('it was not bound');
      nameStandby(of, binding.name);
      binding.send();
      binding.end();
    };
    /** Binds as soon as a standby has asked for the next run. What `before` tries each time is never bound. */
    const whenBound = (standbys: Standbys, of: RunRequest, before = async (): Promise<unknown> => null) =>
      vi.waitFor(async () => {
        expect(await before()).toBeNull();
        const binding = await standbys.bind(of);
        expect(binding).not.toBe('wait');
        return binding;
      });
    const jobIdOf = ({ body }: { body?: RunSpec }): string | undefined => body?.jobId;

    it('sends one after the other of the same account to the same pod, up to their number', async () => {
      const standbys = open(SETTINGS);
      const { name, uid } = await startPod();
      let response = poll(standbys, uid);
      await whenReady(standbys);
      for (const number of [1, 2, 3]) {
        const own = request(number);
        perform(await standbys.bind(own), own);
        expect(jobIdOf(await response)).toBe(own.spec.jobId);
        expect(standbys.podsOf(name, runOf(own))).toHaveLength(1);
        const isFreed = standbys.free(name, { run: runOf(own), kind: own.kind });
        expect(isFreed).toBe(number < 3);
        if (!isFreed) break;
        expect(standbys.podsOf(name, runOf(own))).toEqual([]);
        response = again(standbys, uid, own);
        await vi.waitFor(() => expect(standbys.list().map(({ state }) => state)).toContain('idle'));
      }
      expect(jobs.store.get(name)?.metadata.annotations?.['mediajobs.dev/jobs']).toBe('3');
    });

    it('leaves a pod that has worked for one account to that account', async () => {
      const standbys = open(SETTINGS);
      const { name, uid } = await startPod();
      const response = poll(standbys, uid);
      await whenReady(standbys);
      perform(await standbys.bind(request(1)), request(1));
      await response;
      standbys.free(name, { run: runOf(request(1)), kind: request(1).kind });
      void again(standbys, uid, request(1));
      const binding = await whenBound(standbys, request(3), () => standbys.bind(request(2, { account: 'acct_other' })));
      expect(binding).toMatchObject({ name });
    });

    it('binds none before the outcome of its run is recorded', async () => {
      const standbys = open(SETTINGS);
      const { name, uid } = await startPod();
      const response = poll(standbys, uid);
      await whenReady(standbys);
      perform(await standbys.bind(request(1)), request(1));
      await response;
      void again(standbys, uid, request(1));
      for (let tries = 0; tries < 10; tries += 1) expect(await standbys.bind(request(2))).toBe('wait');
      standbys.free(name, { run: runOf(request(1)), kind: request(1).kind });
      expect(await whenBound(standbys, request(2))).toMatchObject({ name });
    });

    it('lets as many attempts wait as its pod may still take', async () => {
      const standbys = open(SETTINGS);
      const { uid } = await startPod();
      void poll(standbys, uid);
      await whenReady(standbys);
      const bindings = await Promise.all([1, 2, 3, 4].map((number) => standbys.bind(request(number))));
      expect(bindings.slice(1)).toEqual(['wait', 'wait', null]);
    });

    it('does not end a standby for a run that it has left', async () => {
      const standbys = open(SETTINGS);
      const { name, uid } = await startPod();
      const response = poll(standbys, uid);
      await whenReady(standbys);
      perform(await standbys.bind(request(1)), request(1));
      await response;
      standbys.free(name, { run: runOf(request(1)), kind: request(1).kind });
      await standbys.end(name, runOf(request(1)));
      expect(jobs.store.get(name)).toBeDefined();
      void again(standbys, uid, request(1));
      perform(await whenBound(standbys, request(2)), request(2));
      await standbys.end(name, runOf(request(1)));
      expect(jobs.store.get(name)).toBeDefined();
      await standbys.end(name, runOf(request(2)));
      expect(jobs.store.get(name)).toBeUndefined();
    });
  });

  it('deletes a standby that has ended with its run, once the outcome is recorded', async () => {
    const standbys = open({});
    const run = runName(request(1).owner.name, 1);
    const metadata = {
      name: 'standby-video-a',
      labels: { 'mediajobs.dev/standby': 'video' },
      annotations: { [BOUND]: run },
    };
    const status = { conditions: [{ type: 'Complete', status: 'True' }] };
    nameStandby(request(1), metadata.name);
    const job = jobs.put({ metadata, status } as { metadata: object });
    expect(standbys.list().map(({ state }) => state)).toEqual(['bound']);
    released.add(run);
    jobs.put(job);
    await vi.waitFor(() => expect(jobs.store.list()).toEqual([]));
  });

  it('deletes all of an installation that asks for none', async () => {
    jobs.put({ metadata: { name: 'standby-video-old', labels: { 'mediajobs.dev/standby': 'video' } } });
    open({});
    await vi.waitFor(() => expect(jobs.store.list()).toEqual([]));
  });
});
