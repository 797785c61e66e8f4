/**
 * Attempts as Kubernetes Jobs, one each, named for MediaJob and attempt. A name is not reused while its MediaJob
 * exists, so no attempt can run twice. A stopped Job remains as record of its attempt until garbage collection deletes
 * it with its MediaJob.
 */
import type { KubeClient } from '#crds/kube/kube-client.ts';
import { orNull } from '#crds/kube/kube-error.ts';
import type { KubeMetrics } from '#crds/kube/kube-metrics.ts';
import type { KubeObject } from '#crds/kube/kube-object.ts';
import { OwnWrites } from '#crds/kube/own-writes.ts';
import type { Reflector } from '#crds/kube/reflector.ts';
import type { Time } from '#crds/kube/time.ts';
import type { Installation } from '#crds/media-jobs/installation.ts';
import { LABELS } from '#crds/contract/names.ts';
import { Watchers } from '#crds/process/watchers.ts';
import { buildJob, STOPPED_ANNOTATION } from '#controller/job-manifest.ts';
import { KindPermits, type PermitOwner } from '#controller/kind-permits.ts';
import { isUnfinishedRun, mediaJobOfRun, runName, type Run, type RunRequest, type Runs } from '#controller/runs.ts';
import { SeenPodTimes } from '#controller/pod-times.ts';
import {
  accountOf,
  asRun,
  JOB_OF_POD,
  jobOfPod,
  jobsPath,
  kindOf,
  mediaJobOf,
  ownedBy,
  podsPath,
  explainedRun,
} from '#controller/run-objects.ts';
import { StartEvents } from '#controller/start-events.ts';
import { isWorkerRunning, occupiesNode } from '#controller/run-state.ts';
import { maxRunningByKind, type WorkerPod } from '#controller/worker-pod.ts';

export interface KubernetesRunsDeps {
  readonly client: Pick<KubeClient, 'get' | 'list' | 'create' | 'mergePatch' | 'delete'>;
  /** Reflectors of `reflectRuns`. */
  readonly jobs: Pick<Reflector, 'store' | 'synced' | 'watch'>;
  readonly pods: Pick<Reflector, 'store' | 'synced' | 'watch'>;
  readonly time: Pick<Time, 'monotonic' | 'now' | 'wait'>;
  readonly metrics: Pick<KubeMetrics, 'staleRead'>;
}

export interface KubernetesRunsOptions extends Installation {
  readonly pod: WorkerPod;
  /** Maximum number of unfinished Jobs, shared fairly between accounts; null: unlimited. */
  readonly concurrency: number | null;
}

export class KubernetesRuns implements Runs {
  readonly #deps: KubernetesRunsDeps;
  readonly #options: KubernetesRunsOptions;
  readonly #path: string;
  readonly #pod: WorkerPod;
  readonly #view: OwnWrites;
  /** Permits of reserved slots and unfinished Jobs. */
  readonly #permits: KindPermits;
  /** Uids of finished Jobs of released MediaJobs. They are hidden until garbage collection deletes them. */
  readonly #released = new Set<string>();
  readonly #watchers = new Watchers<string>();
  readonly #podTimes: SeenPodTimes;
  readonly #startEvents: StartEvents;

  /** Observes Jobs and pods until the signal aborts. */
  constructor(deps: KubernetesRunsDeps, options: KubernetesRunsOptions, signal: AbortSignal) {
    const { monotonic } = deps.time;
    const onStale = (): void => deps.metrics.staleRead('jobs');
    this.#deps = deps;
    this.#options = options;
    this.#path = jobsPath(options.namespace);
    this.#pod = { ...options.pod, labels: { ...options.pod.labels, [LABELS.instance]: options.instance } };
    this.#podTimes = new SeenPodTimes(() => deps.time.now());
    this.#view = new OwnWrites({ reflector: deps.jobs, monotonic, onStale }, { indexBy: mediaJobOf }, signal);
    this.#permits = new KindPermits(
      { nowMs: monotonic },
      { permits: options.concurrency, byKind: maxRunningByKind(options.pod) },
    );
    this.#startEvents = new StartEvents(
      deps,
      {
        namespace: options.namespace,
        withoutPod: () => this.#unexplained().withoutPod,
        unstarted: () => this.#unexplained().unstarted,
        onChange: (job) => this.#watchers.notify(mediaJobOfRun(job)),
      },
      signal,
    );
    deps.jobs.watch(({ type, object }) => {
      if (type === 'deleted') this.#released.delete(object.metadata.uid);
      this.#onChange(object.metadata.name, object);
    }, signal);
    deps.pods.watch(({ type, object }) => {
      if (type === 'deleted') this.#podTimes.forget(object);
      else if (isWorkerRunning(object)) this.#podTimes.runningSince(object);
      this.#onChange(jobOfPod(object), object);
    }, signal);
  }

  async reserve(name: string, owner: PermitOwner): Promise<boolean> {
    await this.#synced();
    return this.#permits.acquire(name, owner);
  }

  async start(request: RunRequest): ReturnType<Runs['start']> {
    await this.#synced();
    const name = runName(request.owner.name, request.attempt);
    const known = this.#view.get(name);
    if (known !== undefined && isOwner(request, known)) return 'exists';
    if (!(await this.reserve(name, request))) return 'no-capacity';
    const { client } = this.#deps;
    const created = await orNull(client.create(this.#path, buildJob(this.#pod, request)), 409);
    const job = created ?? (await client.get(`${this.#path}/${name}`));
    if (!isOwner(request, job)) {
      await this.#remove(job);
      throw new Error(`The Job ${name} of an earlier MediaJob still existed. It is deleted now.`);
    }
    this.#recordWrite(job);
    return created === null ? 'exists' : 'started';
  }

  async observe(mediaJobName: string, fresh = false): Promise<readonly Run[]> {
    await this.#synced();
    const jobs = this.#unreleased(this.#view.indexed(mediaJobName));
    if (!fresh) return jobs.map((job) => this.#runOf(job));
    return Promise.all(jobs.map((job) => this.#readRun(job)));
  }

  async list(): Promise<readonly Run[]> {
    await this.#synced();
    return this.#unreleased(this.#view.list()).map((job) => this.#runOf(job));
  }

  async stop(name: string): Promise<void> {
    await this.#synced();
    const job = this.#view.get(name);
    if (job === undefined || !this.#occupies(job)) return this.#releasePermit(name);
    const stopped = await orNull(this.#deps.client.mergePatch(`${this.#path}/${name}`, stopPatch(job)), 404, 409);
    if (stopped !== null) this.#recordWrite(stopped);
  }

  async release(mediaJobName: string): Promise<void> {
    await this.#synced();
    for (const job of this.#unreleased(this.#view.indexed(mediaJobName))) {
      if (this.#occupies(job)) await this.#remove(job);
      else this.#released.add(job.metadata.uid);
    }
    for (const name of this.#permits.names()) if (mediaJobOfRun(name) === mediaJobName) this.#releasePermit(name);
  }

  watch(onChange: (mediaJobName: string) => void, signal: AbortSignal): void {
    this.#watchers.add(onChange, signal);
  }

  /** Updates the permit of a changed Job, then notifies of the change. */
  #onChange(job: string | undefined, { metadata }: KubeObject): void {
    if (job !== undefined) this.#updatePermit(job);
    const mediaJob = metadata.labels?.[LABELS.job];
    if (mediaJob !== undefined) this.#watchers.notify(mediaJob);
  }

  /** Holds the permit of an unfinished Job, which another controller may have created; releases that of any other. */
  #updatePermit(name: string): void {
    const job = this.#view.get(name);
    if (job !== undefined && this.#isUnfinished(job))
      this.#permits.hold(name, { account: accountOf(job), kind: kindOf(job) });
    else this.#releasePermit(name);
  }

  #releasePermit(name: string): void {
    for (const changed of this.#permits.release(name)) this.#watchers.notify(mediaJobOfRun(changed));
  }

  #recordWrite(job: KubeObject): void {
    this.#view.wrote(job);
    this.#updatePermit(job.metadata.name);
  }

  async #remove(job: KubeObject): Promise<void> {
    const { name, uid } = job.metadata;
    const options = { uid, propagationPolicy: 'Background' } as const;
    await orNull(this.#deps.client.delete(`${this.#path}/${name}`, options), 404, 409);
    this.#view.deleted(job);
  }

  async #synced(): Promise<void> {
    await Promise.all([this.#deps.jobs.synced, this.#deps.pods.synced]);
  }

  #runOf(job: KubeObject, pods = this.#podsOf(job)): Run {
    const run = asRun(job, pods, this.#podTimes);
    return explainedRun(run, { job, hasPod: pods.length > 0, message: this.#startEvents.messageOf(run.name) });
  }

  #podsOf(job: KubeObject): readonly KubeObject[] {
    return ownedBy(job, this.#deps.pods.store.indexed(job.metadata.name));
  }

  /** Returns whether a run is unfinished, or a container that was injected into its pod still runs. */
  #occupies(job: KubeObject): boolean {
    return this.#isUnfinished(job) || this.#podsOf(job).some((pod) => occupiesNode(pod));
  }

  /** Reads a run from the API server, not from the cache. */
  async #readRun(job: KubeObject): Promise<Run> {
    const { client } = this.#deps;
    const { name, uid } = job.metadata;
    const [now, pods] = await Promise.all([
      orNull(client.get(`${this.#path}/${name}`), 404),
      client.list(podsPath(this.#options.namespace), { labelSelector: `${JOB_OF_POD}=${name}` }),
    ]);
    return this.#runOf(now?.metadata.uid === uid ? now : job, ownedBy(job, pods.items));
  }

  /** Returns the Jobs that wait without a known reason: those without a pod, and by pod those whose pod has a node. */
  #unexplained(): { withoutPod: readonly string[]; unstarted: ReadonlyMap<string, string> } {
    const withoutPod: string[] = [];
    const unstarted = new Map<string, string>();
    for (const job of this.#view.list()) {
      const pods = this.#podsOf(job);
      const { is, name, node } = asRun(job, pods, this.#podTimes);
      if (is.state !== 'waiting' || is.for !== null) continue;
      if (pods.length === 0) withoutPod.push(name);
      else if (node !== null) for (const { metadata } of pods) unstarted.set(metadata.name, name);
    }
    return { withoutPod, unstarted };
  }

  #isUnfinished(job: KubeObject): boolean {
    return isUnfinishedRun(this.#runOf(job));
  }

  #unreleased(jobs: readonly KubeObject[]): readonly KubeObject[] {
    return jobs.filter(({ metadata }) => !this.#released.has(metadata.uid));
  }
}

function isOwner({ owner }: RunRequest, object: KubeObject): boolean {
  return object.metadata.ownerReferences?.some(({ uid }) => uid === owner.uid) ?? false;
}

/**
 * Returns the patch that stops a Job by a deadline in the past: the Job controller then fails it and deletes its pods.
 * Suspending it does not work with Kueue, which resumes suspended Jobs.
 */
function stopPatch({ metadata: { uid } }: KubeObject): object {
  return { metadata: { uid, annotations: { [STOPPED_ANNOTATION]: 'true' } }, spec: { activeDeadlineSeconds: 0 } };
}
