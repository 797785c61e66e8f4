/**
 * Attempts as Kubernetes Jobs, one each, named for MediaJob and attempt. A name is not reused while its MediaJob
 * exists, so no attempt can run twice. A stopped Job remains as record of its attempt until garbage collection deletes
 * it with its MediaJob.
 */
import type { KubeClient } from '#crds/kube/kube-client.ts';
import { orNull } from '#crds/kube/kube-error.ts';
import type { KubeMetrics } from '#crds/kube/kube-metrics.ts';
import type { KubeObject } from '#crds/kube/kube-object.ts';
import { makeOwnWrites } from '#crds/kube/own-writes.ts';
import type { Reflector, ReflectorOptions } from '#crds/kube/reflector.ts';
import type { Time } from '#crds/kube/time.ts';
import { LABELS } from '#crds/contract/names.ts';
import { buildJob, STOPPED_ANNOTATION } from '#controller/job-manifest.ts';
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
  /** Maximum number of unfinished Jobs; null: unlimited. */
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

/** Returns runs as Kubernetes Jobs. */
export function makeKubernetesRuns(
  deps: KubernetesRunsDeps,
  options: KubernetesRunsOptions,
  signal: AbortSignal,
): Runs {
  const { client } = deps;
  const path = jobsPath(options.namespace);
  const { monotonic } = deps.time;
  const onStale = (): void => deps.metrics.staleRead('jobs');
  const view = makeOwnWrites({ reflector: deps.jobs, monotonic, onStale }, { indexBy: mediaJobOf }, signal);
  const reserved = new Set<string>();
  /** Uids of finished Jobs of released MediaJobs. They are hidden until garbage collection deletes them. */
  const released = new Set<string>();
  const watchers = new Set<(mediaJobName: string) => void>();
  const notifyWatchers = (name: string | undefined): void => {
    if (name !== undefined) for (const watcher of watchers) watcher(name);
  };
  const synced = async (): Promise<void> => void (await Promise.all([deps.jobs.synced, deps.pods.synced]));
  const runOf = (job: KubeObject): Run => asRun(job, deps.pods.store.indexed(job.metadata.name));
  const unreleased = (jobs: readonly KubeObject[]): readonly KubeObject[] =>
    jobs.filter(({ metadata }) => !released.has(metadata.uid));

  const hasSlot = (name: string): boolean => {
    if (options.concurrency === null || reserved.has(name)) return true;
    const busy = unreleased(view.list())
      .map(runOf)
      .filter((run) => isUnfinishedRun(run) && !reserved.has(run.name));
    return busy.some((run) => run.name === name) || busy.length + reserved.size < options.concurrency;
  };
  const freeSlot = (name: string): void => {
    if (reserved.delete(name)) notifyWatchers(mediaJobOfRun(name));
  };
  const remove = async (job: KubeObject): Promise<void> => {
    const { name, uid } = job.metadata;
    await orNull(client.delete(`${path}/${name}`, { uid, propagationPolicy: 'Background' }), 404, 409);
    view.deleted(job);
  };

  deps.jobs.watch(({ type, object }) => {
    if (type === 'deleted') released.delete(object.metadata.uid);
    notifyWatchers(mediaJobOf(object));
  }, signal);
  deps.pods.watch(({ object }) => notifyWatchers(mediaJobOf(object)), signal);

  return {
    async reserve(name) {
      await synced();
      if (!hasSlot(name)) return false;
      reserved.add(name);
      return true;
    },
    async start(request) {
      await synced();
      const name = runName(request.owner.name, request.attempt);
      const known = view.get(name);
      if (known !== undefined && isOwner(request, known)) return 'exists';
      if (!hasSlot(name)) return 'no-capacity';
      const job = await orNull(client.create(path, buildJob(options.pod, request)), 409);
      if (job !== null) {
        view.wrote(job);
        reserved.delete(name);
        return 'started';
      }
      const found = await client.get(`${path}/${name}`);
      if (!isOwner(request, found)) {
        await remove(found);
        throw new Error(`The Job ${name} of an earlier MediaJob was still there; it is deleted now.`);
      }
      view.wrote(found);
      reserved.delete(name);
      return 'exists';
    },
    async observe(mediaJobName, fresh = false) {
      await synced();
      const jobs = unreleased(view.indexed(mediaJobName));
      return fresh ? Promise.all(jobs.map((job) => readRun(client, options.namespace, job))) : jobs.map(runOf);
    },
    async list() {
      await synced();
      return unreleased(view.list()).map(runOf);
    },
    async stop(name) {
      await synced();
      freeSlot(name);
      const job = view.get(name);
      if (job === undefined || !isUnfinishedRun(runOf(job))) return;
      const stopped = await orNull(client.mergePatch(`${path}/${name}`, stopPatch(job)), 404, 409);
      if (stopped !== null) view.wrote(stopped);
    },
    async release(mediaJobName) {
      await synced();
      for (const name of reserved) if (mediaJobOfRun(name) === mediaJobName) freeSlot(name);
      for (const job of unreleased(view.indexed(mediaJobName))) {
        if (isUnfinishedRun(runOf(job))) await remove(job);
        else released.add(job.metadata.uid);
      }
    },
    watch(onChange, ended) {
      watchers.add(onChange);
      ended.addEventListener('abort', () => watchers.delete(onChange), { once: true });
    },
  };
}

function mediaJobOf({ metadata }: KubeObject): string | undefined {
  return metadata.labels?.[LABELS.job];
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
