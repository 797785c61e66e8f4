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
import type { Reflector, ReflectorOptions } from '#crds/kube/reflector.ts';
import type { Time } from '#crds/kube/time.ts';
import { LABELS } from '#crds/contract/names.ts';
import { Watchers } from '#crds/process/watchers.ts';
import { buildJob, STOPPED_ANNOTATION } from '#controller/job-manifest.ts';
import { RunPermits } from '#controller/run-permits.ts';
import { isUnfinishedRun, mediaJobOfRun, runName, type Run, type RunRequest, type Runs } from '#controller/runs.ts';
import { runStateOf } from '#controller/run-state.ts';
import type { WorkerPod } from '#controller/worker-pod.ts';

export interface KubernetesRunsDeps {
  readonly client: Pick<KubeClient, 'get' | 'list' | 'create' | 'mergePatch' | 'delete'>;
  /** Reflectors of `reflectRuns`. */
  readonly jobs: Pick<Reflector, 'store' | 'synced' | 'watch'>;
  readonly pods: Pick<Reflector, 'store' | 'synced' | 'watch'>;
  readonly time: Pick<Time, 'monotonic'>;
  readonly metrics: Pick<KubeMetrics, 'staleRead'>;
}

export interface KubernetesRunsOptions {
  readonly namespace: string;
  readonly pod: WorkerPod;
  /** Maximum number of unfinished Jobs, shared fairly between accounts; null: unlimited. */
  readonly concurrency: number | null;
}

const JOB_OF_POD = 'batch.kubernetes.io/job-name';

/** Label selector of the controller's Jobs and pods. */
export const RUN_SELECTOR = LABELS.attempt;
export const jobsPath = (namespace: string): string => `/apis/batch/v1/namespaces/${namespace}/jobs`;
export const podsPath = (namespace: string): string => `/api/v1/namespaces/${namespace}/pods`;

/** Starts reflectors of the controller's Jobs and their pods in a namespace. */
export function reflectRuns(
  reflect: (options: Omit<ReflectorOptions, 'firstList'>) => Reflector,
  namespace: string,
): Pick<KubernetesRunsDeps, 'jobs' | 'pods'> {
  const labelSelector = RUN_SELECTOR;
  return {
    jobs: reflect({ path: jobsPath(namespace), labelSelector, indexBy: mediaJobOf, keep: trimJob }),
    pods: reflect({ path: podsPath(namespace), labelSelector, indexBy: jobOfPod, keep: trimPod }),
  };
}

export class KubernetesRuns implements Runs {
  readonly #deps: KubernetesRunsDeps;
  readonly #options: KubernetesRunsOptions;
  readonly #path: string;
  readonly #view: OwnWrites;
  /** Permits of reserved slots and unfinished Jobs; null: unlimited. */
  readonly #permits: RunPermits | null;
  /** Uids of finished Jobs of released MediaJobs. They are hidden until garbage collection deletes them. */
  readonly #released = new Set<string>();
  readonly #watchers = new Watchers<string>();

  /** Observes Jobs and pods until the signal aborts. */
  constructor(deps: KubernetesRunsDeps, options: KubernetesRunsOptions, signal: AbortSignal) {
    const { monotonic } = deps.time;
    const onStale = (): void => deps.metrics.staleRead('jobs');
    this.#deps = deps;
    this.#options = options;
    this.#path = jobsPath(options.namespace);
    this.#view = new OwnWrites({ reflector: deps.jobs, monotonic, onStale }, { indexBy: mediaJobOf }, signal);
    this.#permits =
      options.concurrency === null
        ? null
        : new RunPermits({ nowMs: monotonic }, { permits: options.concurrency, extra: 0 });
    deps.jobs.watch(({ type, object }) => {
      if (type === 'deleted') this.#released.delete(object.metadata.uid);
      this.#onChange(object.metadata.name, object);
    }, signal);
    deps.pods.watch(({ object }) => this.#onChange(jobOfPod(object), object), signal);
  }

  async reserve(name: string, account: string): Promise<boolean> {
    await this.#synced();
    return this.#permits?.acquire(name, account) ?? true;
  }

  async start(request: RunRequest): ReturnType<Runs['start']> {
    await this.#synced();
    const name = runName(request.owner.name, request.attempt);
    const known = this.#view.get(name);
    if (known !== undefined && isOwner(request, known)) return 'exists';
    if (!(await this.reserve(name, request.account))) return 'no-capacity';
    const { client } = this.#deps;
    const created = await orNull(client.create(this.#path, buildJob(this.#options.pod, request)), 409);
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
    return Promise.all(jobs.map((job) => readRun(this.#deps.client, this.#options.namespace, job)));
  }

  async list(): Promise<readonly Run[]> {
    await this.#synced();
    return this.#unreleased(this.#view.list()).map((job) => this.#runOf(job));
  }

  async stop(name: string): Promise<void> {
    await this.#synced();
    const job = this.#view.get(name);
    if (job === undefined || !this.#isUnfinished(job)) return this.#releasePermit(name);
    const stopped = await orNull(this.#deps.client.mergePatch(`${this.#path}/${name}`, stopPatch(job)), 404, 409);
    if (stopped !== null) this.#recordWrite(stopped);
  }

  async release(mediaJobName: string): Promise<void> {
    await this.#synced();
    for (const job of this.#unreleased(this.#view.indexed(mediaJobName))) {
      if (this.#isUnfinished(job)) await this.#remove(job);
      else this.#released.add(job.metadata.uid);
    }
    for (const name of this.#permits?.names() ?? [])
      if (mediaJobOfRun(name) === mediaJobName) this.#releasePermit(name);
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
    if (job !== undefined && this.#isUnfinished(job)) this.#permits?.hold(name, accountOf(job));
    else this.#releasePermit(name);
  }

  #releasePermit(name: string): void {
    for (const changed of this.#permits?.release(name) ?? []) this.#watchers.notify(mediaJobOfRun(changed));
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

  #runOf(job: KubeObject): Run {
    return asRun(job, this.#deps.pods.store.indexed(job.metadata.name));
  }

  #isUnfinished(job: KubeObject): boolean {
    return isUnfinishedRun(this.#runOf(job));
  }

  #unreleased(jobs: readonly KubeObject[]): readonly KubeObject[] {
    return jobs.filter(({ metadata }) => !this.#released.has(metadata.uid));
  }
}

function mediaJobOf({ metadata }: KubeObject): string | undefined {
  return metadata.labels?.[LABELS.job];
}

function accountOf({ metadata }: KubeObject): string {
  return metadata.labels?.[LABELS.account] ?? '';
}

function jobOfPod({ metadata }: KubeObject): string | undefined {
  return metadata.labels?.[JOB_OF_POD];
}

/** Returns the fields of a Job that `runStateOf` and this file read, without its large pod template. */
function trimJob({ metadata, status }: KubeObject): KubeObject {
  return { metadata, status };
}

/** Returns the fields of a pod that `runStateOf` and this file read. */
function trimPod({ metadata, spec, status }: KubeObject): KubeObject {
  const { nodeName } = (spec ?? {}) as { nodeName?: string };
  const { annotations: _, ...rest } = metadata;
  return { metadata: rest, spec: { nodeName }, status };
}

function asRun(job: KubeObject, pods: readonly KubeObject[]): Run {
  const { name, labels = {}, ownerReferences = [] } = job.metadata;
  const own = pods.filter(({ metadata }) => metadata.ownerReferences?.some(({ uid }) => uid === job.metadata.uid));
  return {
    name,
    owner: { name: labels[LABELS.job] ?? '', uid: ownerReferences[0]?.uid ?? '' },
    attempt: Number(labels[LABELS.attempt]),
    node: own.map((pod) => (pod['spec'] as { nodeName?: string }).nodeName).find((node) => node !== undefined) ?? null,
    is: runStateOf(job, own),
  };
}

function isOwner({ owner }: RunRequest, object: KubeObject): boolean {
  return object.metadata.ownerReferences?.some(({ uid }) => uid === owner.uid) ?? false;
}

/** Reads a run from the API server, not from the cache. */
async function readRun(client: Pick<KubeClient, 'get' | 'list'>, namespace: string, job: KubeObject): Promise<Run> {
  const { name } = job.metadata;
  const [now, pods] = await Promise.all([
    orNull(client.get(`${jobsPath(namespace)}/${name}`), 404),
    client.list(podsPath(namespace), { labelSelector: `${JOB_OF_POD}=${name}` }),
  ]);
  return asRun(now?.metadata.uid === job.metadata.uid ? now : job, pods.items);
}

/**
 * Returns the patch that stops a Job by a deadline in the past: the Job controller then fails it and deletes its pods.
 * Suspending it does not work with Kueue, which resumes suspended Jobs.
 */
function stopPatch({ metadata: { uid } }: KubeObject): object {
  return { metadata: { uid, annotations: { [STOPPED_ANNOTATION]: 'true' } }, spec: { activeDeadlineSeconds: 0 } };
}
