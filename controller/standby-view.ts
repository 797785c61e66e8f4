/** State of the standbys: their Jobs and pods with this process's own writes, and their open requests. */
import type { KubeMetrics } from '#crds/kube/kube-metrics.ts';
import type { KubeObject } from '#crds/kube/kube-object.ts';
import { OwnWrites } from '#crds/kube/own-writes.ts';
import type { Reflector } from '#crds/kube/reflector.ts';
import type { Time } from '#crds/kube/time.ts';
import { mediaJobName, LABELS } from '#crds/contract/names.ts';
import type { AttemptId } from '#crds/contract/run-spec.ts';
import { standbyOf } from '#controller/bound-run-state.ts';
import type { Standby } from '#controller/plan-standbys.ts';
import { accountOf, jobOfPod, ownedBy } from '#controller/run-objects.ts';
import { isWorkerRunning } from '#controller/run-state.ts';
import { runName } from '#controller/runs.ts';
import { BOUND_ANNOTATION, jobsOf, TEMPLATE_ANNOTATION, type StandbyTemplate } from '#controller/standby-manifest.ts';
import { StandbyPolls } from '#controller/standby-polls.ts';

export interface StandbyViewDeps {
  /** Reflectors of `reflectStandbys`. */
  readonly jobs: Pick<Reflector, 'store' | 'synced' | 'watch'>;
  readonly pods: Pick<Reflector, 'store' | 'synced' | 'watch'>;
  readonly time: Pick<Time, 'monotonic'>;
  readonly metrics: Pick<KubeMetrics, 'staleRead'>;
}

/** Read access to the Jobs of runs. */
export interface StandbyRunReader {
  /** Returns the Job of a run. */
  readonly runJob: (name: string) => KubeObject | undefined;
  /** Returns whether the MediaJob of a run was final when its pods had ended: nobody reads them any more. */
  readonly isReleased: (name: string) => boolean;
}

/** A standby's Job with its running pod. */
export interface RunningStandby {
  readonly job: KubeObject;
  readonly pod: KubeObject;
}

export class StandbyView {
  readonly polls = new StandbyPolls();
  readonly jobs: OwnWrites;
  /** Standbys that are being bound, by name: to whose attempt, and their number of attempts with it. */
  readonly binding = new Map<string, { readonly account: string; readonly jobs: number }>();
  /** Run of each bound standby, also while its deleted Job still has a pod. */
  readonly #runOf = new Map<string, string>();
  /** Ended run of each standby that may take another one. */
  readonly #ended = new Map<string, string>();
  readonly #deps: StandbyViewDeps;
  readonly #runs: () => StandbyRunReader | null;

  /** `runs` returns null before `Standbys.start`. */
  constructor(deps: StandbyViewDeps, runs: () => StandbyRunReader | null, signal: AbortSignal) {
    const onStale = (): void => deps.metrics.staleRead('jobs');
    this.#deps = deps;
    this.#runs = runs;
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

  /** Returns a standby whose request for a run is open: one that has worked for the account, else an unused one. */
  findFor(template: StandbyTemplate, account: string): RunningStandby | null {
    const used = this.#usedBy(template, account).find(
      ({ job, pod }) => this.#isIdle(job) && this.polls.isOpen(pod.metadata.uid),
    );
    return used ?? this.#running(template).find(({ job }) => this.#stateOf(job) === 'ready') ?? null;
  }

  /** Returns the number of attempts that the standbys that work for the account may still take. */
  capacityFor(template: StandbyTemplate, account: string): number {
    const left = this.#usedBy(template, account).map(
      ({ job }) => template.jobsPerPod - Math.max(jobsOf(job), this.binding.get(job.metadata.name)?.jobs ?? 0),
    );
    return left.reduce((sum, count) => sum + Math.max(0, count), 0);
  }

  /** Records that the run of a standby has ended. Returns whether it may take another one. */
  free({ hash, jobsPerPod }: StandbyTemplate, { standby, run }: { standby: string; run: string }): boolean {
    const job = this.jobs.get(standby);
    const annotations = job?.metadata.annotations ?? {};
    if (job === undefined || annotations[BOUND_ANNOTATION] !== run || annotations[TEMPLATE_ANNOTATION] !== hash)
      return false;
    if (jobsOf(job) >= jobsPerPod || this.#runningPod(job) === undefined) return false;
    this.#ended.set(standby, run);
    return true;
  }

  /** Returns whether a standby that was bound to the run has ended it and works for another one, or may. */
  hasLeft(standby: string, run: string): boolean {
    const bound = this.jobs.get(standby)?.metadata.annotations?.[BOUND_ANNOTATION];
    return bound !== undefined && (bound !== run || this.#ended.get(standby) === run);
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
    const standby = jobOfPod(pod) ?? '';
    this.polls.forget(pod.metadata.uid);
    this.#runOf.delete(standby);
    this.#ended.delete(standby);
  }

  /** Returns whether a standby that asks for a run will have none: it is deleted, or another leader has bound it. */
  mustEnd({ job, pod }: RunningStandby, finished: AttemptId | null): boolean {
    const { name, annotations, deletionTimestamp } = job.metadata;
    if (deletionTimestamp !== undefined) return true;
    const bound = annotations?.[BOUND_ANNOTATION];
    if (bound === undefined || this.binding.has(name) || this.polls.hasRun(pod.metadata.uid)) return false;
    return finished === null || bound !== runName(mediaJobName(finished.jobId), finished.attempt);
  }

  #stateOf(job: KubeObject): Standby['state'] {
    const { name, annotations } = job.metadata;
    if (this.binding.has(name)) return 'binding';
    const run = annotations?.[BOUND_ANNOTATION];
    if (run !== undefined) return this.#stateOfBound(job, run);
    if (isFinished(job)) return 'ended';
    const pod = this.#runningPod(job);
    return pod !== undefined && this.polls.isOpen(pod.metadata.uid) ? 'ready' : 'starting';
  }

  #stateOfBound(job: KubeObject, run: string): 'bound' | 'idle' | 'stray' {
    if (!this.#isIdle(job))
      return this.#isNamedBy(run, job.metadata.name) && !this.#isLeftOver(job, run) ? 'bound' : 'stray';
    return !isFinished(job) && this.#runningPod(job) !== undefined ? 'idle' : 'stray';
  }

  /** Returns whether a standby has ended with its last run, whose outcome is recorded. */
  #isLeftOver(job: KubeObject, run: string): boolean {
    return isFinished(job) && this.#runs()?.isReleased(run) === true;
  }

  /** Returns whether the run of a standby has ended, and it may take another one. */
  #isIdle({ metadata: { name, annotations } }: KubeObject): boolean {
    const run = annotations?.[BOUND_ANNOTATION];
    return run !== undefined && !this.binding.has(name) && this.#ended.get(name) === run;
  }

  /** Returns the standbys of a template that work for the account, or have. */
  #usedBy(template: StandbyTemplate, account: string): readonly RunningStandby[] {
    if (template.jobsPerPod === 1) return [];
    return this.#running(template).filter(
      ({ job }) => (this.binding.get(job.metadata.name)?.account ?? accountOf(job)) === account,
    );
  }

  /** Returns the standbys of a template whose pods run. */
  #running({ kind, hash }: StandbyTemplate): readonly RunningStandby[] {
    return this.jobs.list().flatMap((job) => {
      const { labels, annotations, deletionTimestamp } = job.metadata;
      if (labels?.[LABELS.standby] !== kind || annotations?.[TEMPLATE_ANNOTATION] !== hash) return [];
      const pod = deletionTimestamp === undefined && !isFinished(job) ? this.#runningPod(job) : undefined;
      return pod === undefined ? [] : [{ job, pod }];
    });
  }

  #isNamedBy(run: string, standby: string): boolean {
    const job = this.#runs()?.runJob(run);
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
