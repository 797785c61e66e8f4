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
import { standbyOf } from '#controller/bound-run-state.ts';
import { buildJob, STOPPED_ANNOTATION } from '#controller/job-manifest.ts';
import { KindPermits, type PermitOwner } from '#controller/kind-permits.ts';
import { accountOf, jobOfPod, jobsPath, kindOf, mediaJobOf } from '#controller/run-objects.ts';
import { RunView } from '#controller/run-view.ts';
import { mediaJobOfRun, runName, type Run, type RunRequest, type Runs } from '#controller/runs.ts';
import type { Binding } from '#controller/standby-binding.ts';
import type { Standbys } from '#controller/standbys.ts';
import { maxRunningByKind, type WorkerPod } from '#controller/worker-pod.ts';

export interface KubernetesRunsDeps {
  readonly client: Pick<KubeClient, 'get' | 'list' | 'create' | 'mergePatch' | 'delete'>;
  /** Reflectors of `reflectRuns`. */
  readonly jobs: Pick<Reflector, 'store' | 'synced' | 'watch'>;
  readonly pods: Pick<Reflector, 'store' | 'synced' | 'watch'>;
  readonly time: Pick<Time, 'monotonic' | 'now' | 'wait'>;
  readonly metrics: Pick<KubeMetrics, 'staleRead'>;
  /** Standby pods for small jobs; absent: every attempt has its own pod. */
  readonly standbys?: Pick<Standbys, 'start' | 'synced' | 'bind' | 'podsOf' | 'free' | 'end'>;
}

export interface KubernetesRunsOptions extends Installation {
  readonly pod: WorkerPod;
  /** Maximum number of unfinished Jobs, shared fairly between accounts; null: unlimited. */
  readonly concurrency: number | null;
}

export class KubernetesRuns implements Runs {
  readonly #deps: KubernetesRunsDeps;
  readonly #path: string;
  readonly #pod: WorkerPod;
  readonly #jobs: OwnWrites;
  /** Permits of reserved slots and unfinished Jobs. */
  readonly #permits: KindPermits;
  /** Uids of finished Jobs of released MediaJobs. They are hidden until garbage collection deletes them. */
  readonly #released = new Set<string>();
  readonly #watchers = new Watchers<string>();
  readonly #runView: RunView;

  /** Observes Jobs and pods until the signal aborts. */
  constructor(deps: KubernetesRunsDeps, options: KubernetesRunsOptions, signal: AbortSignal) {
    const { monotonic } = deps.time;
    const onStale = (): void => deps.metrics.staleRead('jobs');
    this.#deps = deps;
    this.#path = jobsPath(options.namespace);
    this.#pod = { ...options.pod, labels: { ...options.pod.labels, [LABELS.instance]: options.instance } };
    this.#jobs = new OwnWrites({ reflector: deps.jobs, monotonic, onStale }, { indexBy: mediaJobOf }, signal);
    this.#permits = new KindPermits(
      { nowMs: monotonic },
      { permits: options.concurrency, byKind: maxRunningByKind(options.pod) },
    );
    this.#runView = new RunView(
      { ...deps, standbys: deps.standbys ?? null },
      {
        namespace: options.namespace,
        jobs: () => this.#jobs.list(),
        onChange: (run) => this.#watchers.notify(mediaJobOfRun(run)),
      },
      signal,
    );
    deps.jobs.watch(({ type, object }) => {
      if (type === 'deleted') this.#released.delete(object.metadata.uid);
      this.#onChange(object.metadata.name, object);
    }, signal);
    deps.pods.watch(({ object }) => this.#onChange(jobOfPod(object), object), signal);
    deps.standbys?.start(
      {
        synced: this.#synced(),
        runJob: (name) => this.#jobs.get(name),
        isReleased: (name) => this.#released.has(this.#jobs.get(name)?.metadata.uid ?? ''),
        onPodDeleted: (pod) => this.#runView.forgetPod(pod),
        onChange: (run) => {
          this.#updatePermit(run);
          this.#watchers.notify(mediaJobOfRun(run));
        },
      },
      signal,
    );
  }

  async reserve(name: string, owner: PermitOwner): Promise<boolean> {
    await this.#synced();
    return this.#permits.acquire(name, owner);
  }

  async start(request: RunRequest): ReturnType<Runs['start']> {
    await this.#synced();
    const name = runName(request.owner.name, request.attempt);
    const known = this.#jobs.get(name);
    if (known !== undefined && isOwner(request, known)) return 'exists';
    if (!(await this.reserve(name, request))) return 'no-capacity';
    const standby = (await this.#deps.standbys?.bind(request)) ?? null;
    // The attempt keeps its permit while it waits for a standby.
    if (standby === 'wait') return 'no-capacity';
    try {
      return await this.#create(request, standby);
    } finally {
      standby?.end();
    }
  }

  async observe(mediaJobName: string, fresh = false): Promise<readonly Run[]> {
    await this.#synced();
    const jobs = this.#unreleased(this.#jobs.indexed(mediaJobName));
    if (!fresh) return jobs.map((job) => this.#runView.runOf(job));
    return Promise.all(jobs.map((job) => this.#runView.readRun(job)));
  }

  async list(): Promise<readonly Run[]> {
    await this.#synced();
    return this.#unreleased(this.#jobs.list()).map((job) => this.#runView.runOf(job));
  }

  async stop(name: string): Promise<void> {
    await this.#synced();
    const job = this.#jobs.get(name);
    if (job === undefined || !this.#runView.occupies(job)) return this.#releasePermit(name);
    const stopped = await orNull(this.#deps.client.mergePatch(`${this.#path}/${name}`, stopPatch(job)), 404, 409);
    if (stopped !== null) this.#recordWrite(stopped);
    await this.#endStandby(job);
  }

  async release(mediaJobName: string, ended?: string): Promise<void> {
    await this.#synced();
    for (const job of this.#unreleased(this.#jobs.indexed(mediaJobName))) {
      const isStandbyFreed = job.metadata.name === ended && this.#freeStandby(job);
      if (!isStandbyFreed && this.#runView.occupies(job)) await this.#remove(job);
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
    const job = this.#jobs.get(name);
    if (job !== undefined && this.#runView.isUnfinished(job))
      this.#permits.hold(name, { account: accountOf(job), kind: kindOf(job) });
    else this.#releasePermit(name);
  }

  #releasePermit(name: string): void {
    for (const changed of this.#permits.release(name)) this.#watchers.notify(mediaJobOfRun(changed));
  }

  #recordWrite(job: KubeObject): void {
    this.#jobs.wrote(job);
    this.#updatePermit(job.metadata.name);
  }

  /** Creates the Job of an attempt. It is the record of the run, which is sent to the standby that the Job names. */
  async #create(request: RunRequest, standby: Binding | null): Promise<'started' | 'exists'> {
    const { client } = this.#deps;
    const manifest = buildJob(this.#pod, request, standby?.name);
    const created = await orNull(client.create(this.#path, manifest), 409);
    const job = created ?? (await client.get(`${this.#path}/${runName(request.owner.name, request.attempt)}`));
    if (!isOwner(request, job)) {
      await this.#remove(job);
      throw new Error(`The Job ${job.metadata.name} of an earlier MediaJob still existed. It is deleted now.`);
    }
    this.#recordWrite(job);
    if (standby !== null && standbyOf(job) === standby.name) standby.send();
    return created === null ? 'exists' : 'started';
  }

  async #remove(job: KubeObject): Promise<void> {
    const { name, uid } = job.metadata;
    const options = { uid, propagationPolicy: 'Background' } as const;
    await orNull(this.#deps.client.delete(`${this.#path}/${name}`, options), 404, 409);
    this.#jobs.deleted(job);
    await this.#endStandby(job);
  }

  async #endStandby(job: KubeObject): Promise<void> {
    const standby = standbyOf(job);
    if (standby !== null) await this.#deps.standbys?.end(standby, job.metadata.name);
  }

  /** Lets the standby of an ended run take another one, whose times begin anew. Returns false when it takes no more. */
  #freeStandby(job: KubeObject): boolean {
    const [standby, { standbys }] = [standbyOf(job), this.#deps];
    if (standby === null || standbys === undefined) return false;
    const pods = standbys.podsOf(standby, job.metadata.name);
    if (!standbys.free(standby, { run: job.metadata.name, kind: kindOf(job) })) return false;
    for (const pod of pods) this.#runView.forgetPod(pod);
    this.#onChange(job.metadata.name, job);
    return true;
  }

  async #synced(): Promise<void> {
    const { jobs, pods, standbys } = this.#deps;
    await Promise.all([jobs.synced, pods.synced, standbys?.synced]);
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
