/** State of the standbys: their Jobs and pods with this process's own writes, and their open requests. */
import type { KubeMetrics } from '#crds/kube/kube-metrics.ts';
import type { KubeObject } from '#crds/kube/kube-object.ts';
import { OwnWrites } from '#crds/kube/own-writes.ts';
import type { Reflector } from '#crds/kube/reflector.ts';
import type { Time } from '#crds/kube/time.ts';
import { LABELS } from '#crds/contract/names.ts';
import { standbyOf } from '#controller/bound-run-state.ts';
import type { Standby } from '#controller/plan-standbys.ts';
import { jobOfPod, ownedBy } from '#controller/run-objects.ts';
import { isWorkerRunning } from '#controller/run-state.ts';
import { BOUND_ANNOTATION, TEMPLATE_ANNOTATION } from '#controller/standby-manifest.ts';
import { StandbyPolls } from '#controller/standby-polls.ts';

export interface StandbyViewDeps {
  /** Reflectors of `reflectStandbys`. */
  readonly jobs: Pick<Reflector, 'store' | 'synced' | 'watch'>;
  readonly pods: Pick<Reflector, 'store' | 'synced' | 'watch'>;
  readonly time: Pick<Time, 'monotonic'>;
  readonly metrics: Pick<KubeMetrics, 'staleRead'>;
}

/** A standby's Job with its running pod. */
export interface RunningStandby {
  readonly job: KubeObject;
  readonly pod: KubeObject;
}

export class StandbyView {
  readonly polls = new StandbyPolls();
  readonly jobs: OwnWrites;
  /** Names of standbys that are being bound. */
  readonly binding = new Set<string>();
  /** Run of each bound standby, also while its deleted Job still has a pod. */
  readonly #runOf = new Map<string, string>();
  readonly #deps: StandbyViewDeps;
  readonly #runJob: (name: string) => KubeObject | undefined;

  /** `runJob` returns the Job of a run. */
  constructor(deps: StandbyViewDeps, runJob: (name: string) => KubeObject | undefined, signal: AbortSignal) {
    const onStale = (): void => deps.metrics.staleRead('jobs');
    this.#deps = deps;
    this.#runJob = runJob;
    this.jobs = new OwnWrites({ reflector: deps.jobs, monotonic: deps.time.monotonic, onStale }, {}, signal);
    signal.addEventListener('abort', () => this.polls.close(), { once: true });
    deps.jobs.watch(({ object: { metadata } }) => {
      const run = metadata.annotations?.[BOUND_ANNOTATION];
      if (run !== undefined) this.#runOf.set(metadata.name, run);
    }, signal);
  }

  get synced(): Promise<unknown> {
    return Promise.all([this.#deps.jobs.synced, this.#deps.pods.synced]);
  }

  list(): readonly Standby[] {
    return this.jobs.list().map((job) => {
      const { name, labels, annotations, creationTimestamp } = job.metadata;
      return {
        name,
        kind: labels?.[LABELS.standby] ?? '',
        hash: annotations?.[TEMPLATE_ANNOTATION] ?? '',
        state: this.#stateOf(job),
        createdAt: new Date(creationTimestamp),
      };
    });
  }

  /** Returns a standby of the kind and template whose request for a run is open. */
  findReady(wanted: { readonly kind: string; readonly hash: string }): RunningStandby | null {
    const { kind, hash } = wanted;
    const found = this.list().find((one) => one.kind === kind && one.hash === hash && one.state === 'ready');
    const job = found === undefined ? undefined : this.jobs.get(found.name);
    const pod = job === undefined ? undefined : this.#runningPod(job);
    return job === undefined || pod === undefined ? null : { job, pod };
  }

  /** Returns the standby of a pod; `unknown`: the watch may be behind; `foreign`: the pod is not a standby's. */
  ofPod(uid: string): RunningStandby | 'unknown' | 'foreign' {
    const pod = this.#deps.pods.store.list().find(({ metadata }) => metadata.uid === uid);
    if (pod === undefined) return 'unknown';
    const job = this.jobs.get(jobOfPod(pod) ?? '');
    return job === undefined || ownedBy(job, [pod]).length === 0 ? 'foreign' : { job, pod };
  }

  podsOf(name: string): readonly KubeObject[] {
    return this.#deps.pods.store.indexed(name);
  }

  /** Returns the run that the standby of a pod is bound to; null: none. */
  runOfPod(pod: KubeObject): string | null {
    return this.#runOf.get(jobOfPod(pod) ?? '') ?? null;
  }

  /** Forgets a pod that was deleted. */
  forgetPod(pod: KubeObject): void {
    this.polls.forget(pod.metadata.uid);
    this.#runOf.delete(jobOfPod(pod) ?? '');
  }

  /** Returns whether a standby that asks for a run will have none: it is deleted, or another leader has bound it. */
  mustEnd({ job, pod }: RunningStandby): boolean {
    const { name, annotations, deletionTimestamp } = job.metadata;
    if (deletionTimestamp !== undefined) return true;
    const isBound = annotations?.[BOUND_ANNOTATION] !== undefined;
    return isBound && !this.binding.has(name) && !this.polls.hasRun(pod.metadata.uid);
  }

  #stateOf(job: KubeObject): Standby['state'] {
    const { name, annotations } = job.metadata;
    if (this.binding.has(name)) return 'binding';
    const run = annotations?.[BOUND_ANNOTATION];
    if (run !== undefined) return this.#isNamedBy(run, name) ? 'bound' : 'stray';
    if (isFinished(job)) return 'ended';
    const pod = this.#runningPod(job);
    return pod !== undefined && this.polls.isOpen(pod.metadata.uid) ? 'ready' : 'starting';
  }

  #isNamedBy(run: string, standby: string): boolean {
    const job = this.#runJob(run);
    return job !== undefined && standbyOf(job) === standby;
  }

  #runningPod(job: KubeObject): KubeObject | undefined {
    return ownedBy(job, this.podsOf(job.metadata.name)).find(
      (pod) => isWorkerRunning(pod) && pod.metadata.deletionTimestamp === undefined,
    );
  }
}

const ENDS: ReadonlySet<string> = new Set(['Complete', 'SuccessCriteriaMet', 'Failed', 'FailureTarget']);

/** Returns whether the Job of a standby has ended, or is about to. */
function isFinished(job: KubeObject): boolean {
  const { conditions = [] } = (job['status'] ?? {}) as { conditions?: readonly { type: string; status: string }[] };
  return conditions.some(({ type, status }) => ENDS.has(type) && status === 'True');
}
