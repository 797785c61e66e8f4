/**
 * Standbys: pods that have started and wait for a small job, each the pod of a Kubernetes Job of its own. Keeps as many
 * as the settings ask for, and binds them to attempts.
 *
 *   starting ──→ ready: its request for a run is open ──→ bound to one attempt ──→ ended
 *          ╲──────────╲──→ deleted: outdated or surplus · ended: replaced
 *
 * With `jobsPerPod`: bound ──→ idle: may take a further job of the same account ──→ bound … ──→ ended
 *
 * Two writes bind a standby: the patch of its Job with the attempt's name, and the creation of the attempt's Job with
 * its name (`controller/kubernetes-runs.ts`). Its run is sent after both. Bound standbys that their attempt's Job does
 * not name are deleted.
 */
import type { Kind } from '#crds/catalogue/formats.ts';
import type { KubeClient } from '#crds/kube/kube-client.ts';
import { orNull } from '#crds/kube/kube-error.ts';
import type { KubeObject } from '#crds/kube/kube-object.ts';
import type { Time } from '#crds/kube/time.ts';
import type { Installation } from '#crds/media-jobs/installation.ts';
import { nameWord } from '#crds/contract/ids.ts';
import { LABELS } from '#crds/contract/names.ts';
import type { AttemptId, RunSpec } from '#crds/contract/run-spec.ts';
import { faultPoint } from '#crds/process/fault-point.ts';
import type { Log } from '#crds/process/log.ts';
import { bindJob } from '#controller/bind-job.ts';
import { resultOf, type Binding, type BindingResult } from '#controller/standby-binding.ts';
import { applyStandbyPlans } from '#controller/apply-standby-plans.ts';
import { planStandbys, type Standby, type StandbyPlan } from '#controller/plan-standbys.ts';
import type { VerifyPodToken } from '#controller/pod-token.ts';
import { jobsPath } from '#controller/run-objects.ts';
import { runName, type RunRequest } from '#controller/runs.ts';
import {
  buildStandbyJob,
  buildStandbyTemplate,
  jobsOf,
  SMALL_INPUT_BYTES,
  type StandbyTemplate,
} from '#controller/standby-manifest.ts';
import { StandbyQueue } from '#controller/standby-queue.ts';
import { StandbyRefills } from '#controller/standby-refills.ts';
import {
  StandbyView,
  type RunningStandby,
  type StandbyRunReader,
  type StandbyViewDeps,
} from '#controller/standby-view.ts';
import { standbyCounts, type StandbyKind, type WorkerPod } from '#controller/worker-pod.ts';

export interface StandbysDeps extends StandbyViewDeps {
  readonly client: Pick<KubeClient, 'get' | 'create' | 'mergePatch' | 'delete'>;
  readonly verifyToken: VerifyPodToken;
  /** Completes the spec of an attempt by its secret part; null when the attempt is not current. */
  readonly completeSpec: (request: RunRequest) => Promise<RunSpec | null>;
  readonly time: Pick<Time, 'monotonic' | 'now' | 'wait'>;
  readonly log: Log;
  /** Called with the result of each binding. */
  readonly onBinding: (result: BindingResult) => void;
}

export interface StandbysOptions extends Installation {
  readonly pod: WorkerPod;
  /** URL at which standbys request their run. */
  readonly url: string;
}

/** Callbacks between `Standbys` and the runs that use them. */
export interface StandbyRuns extends StandbyRunReader {
  /** Resolves when every Job of a run is known. */
  readonly synced: Promise<unknown>;
  /** Called with the name of a run whose pod has changed. */
  readonly onChange: (run: string) => void;
  readonly onPodDeleted: (pod: KubeObject) => void;
}

/** 204: no run yet; 401: not a standby's token; 410: there will be no run; 503: retry. */
export interface PollReply {
  readonly status: 200 | 204 | 401 | 410 | 503;
  readonly body?: RunSpec;
}

export class Standbys {
  readonly #deps: StandbysDeps;
  readonly #options: StandbysOptions;
  readonly #path: string;
  readonly #view: StandbyView;
  readonly #templates: readonly StandbyTemplate[];
  readonly #refills: StandbyRefills;
  readonly #queue: StandbyQueue;
  #runs: StandbyRuns | null = null;
  #wake: () => void = () => undefined;

  /** Observes the standbys until the signal aborts. */
  constructor(deps: StandbysDeps, options: StandbysOptions, signal: AbortSignal) {
    this.#deps = deps;
    this.#options = options;
    this.#path = jobsPath(options.namespace);
    this.#refills = new StandbyRefills(() => deps.time.now());
    this.#queue = new StandbyQueue(deps.time.monotonic);
    this.#view = new StandbyView(deps, () => this.#runs, signal);
    const pod = { ...options.pod, labels: { ...options.pod.labels, [LABELS.instance]: options.instance } };
    this.#templates = standbyCounts(pod).map(([kind]) => buildStandbyTemplate(pod, kind, options.url));
    deps.jobs.watch(() => this.#wake(), signal);
    deps.pods.watch(({ type, object }) => {
      const run = this.#view.runOfPod(object);
      if (type === 'deleted') {
        this.#view.forgetPod(object);
        this.#runs?.onPodDeleted(object);
      }
      if (run !== null) this.#runs?.onChange(run);
      this.#wake();
    }, signal);
  }

  get synced(): Promise<unknown> {
    return this.#view.synced;
  }

  /** Starts to create and delete standbys, until the signal aborts. */
  start(runs: StandbyRuns, signal: AbortSignal): void {
    this.#runs = runs;
    const deps = {
      ...this.#deps,
      plan: () => this.#plan(),
      create: (kind: StandbyKind) => this.#create(kind),
      remove: (name: string) => this.end(name),
      onWaiting: (wake: () => void) => (this.#wake = wake),
    };
    void Promise.all([this.synced, runs.synced]).then(() => applyStandbyPlans(deps, signal));
  }

  /**
   * Binds a standby to a first attempt with a small input. Returns null when the attempt needs a pod of its own; 'wait'
   * when a standby that works for the account is free soon.
   */
  async bind(request: RunRequest): Promise<Binding | 'wait' | null> {
    const { account, attempt, owner, spec } = request;
    const template = this.#templateOf(request.kind);
    const isSmall = spec.input.size !== null && spec.input.size <= SMALL_INPUT_BYTES;
    if (attempt !== 1 || !isSmall || template === undefined || this.#countOf(template) === 0) return null;
    await this.synced;
    const standby = this.#view.findFor(template, account);
    const run = runName(owner.name, attempt);
    const group = `${template.kind} ${account}`;
    const capacity = this.#view.capacityFor(template, account);
    if (standby === null && this.#queue.wait(run, { group, capacity })) return 'wait';
    this.#queue.remove(run);
    const binding = standby === null ? null : await this.#bindTo(standby, request, template);
    this.#deps.onBinding(resultOf(standby, binding));
    return binding;
  }

  /** Returns the pods of a standby that work for the run. */
  podsOf(name: string, run: string): readonly KubeObject[] {
    return this.#view.hasLeft(name, run) ? [] : this.#view.podsOf(name);
  }

  /** Lets a standby whose run has ended with an outcome take another one. Returns false when it takes no more. */
  free(name: string, { run, kind }: { run: string; kind: Kind | null }): boolean {
    const template = this.#templateOf(kind);
    if (template === undefined || !this.#view.free(template, { standby: name, run })) return false;
    this.#wake();
    return true;
  }

  /** Deletes a standby with its pod, unless it has left the run. */
  async end(name: string, run?: string): Promise<void> {
    if (run !== undefined && this.#view.hasLeft(name, run)) return;
    const job = this.#view.jobs.get(name);
    if (job === undefined) return;
    const options = { uid: job.metadata.uid, propagationPolicy: 'Background' } as const;
    await orNull(this.#deps.client.delete(`${this.#path}/${name}`, options), 404, 409);
    this.#view.jobs.deleted(job);
  }

  /** Returns the response to a standby that requests its run. Waits while it has none, as long as the signal allows. */
  async poll(token: string, signal: AbortSignal, finished: AttemptId | null = null): Promise<PollReply> {
    const uid = await this.#deps.verifyToken(token);
    if (uid === null) return { status: 401 };
    await this.synced;
    const standby = this.#view.ofPod(uid);
    if (standby === 'unknown') return { status: 503 };
    if (standby === 'foreign') return { status: 401 };
    if (this.#view.mustEnd(standby, finished)) return { status: 410 };
    const waiting = this.#view.polls.wait(uid, signal, finished);
    this.#wake();
    const run = this.#view.runOfPod(standby.pod);
    if (finished !== null && run !== null) this.#runs?.onChange(run);
    const body = await waiting;
    this.#wake();
    return body === null ? { status: 204 } : { status: 200, body };
  }

  list(): readonly Standby[] {
    return this.#view.list();
  }

  async #bindTo(
    { job, pod }: RunningStandby,
    request: RunRequest,
    { kind, jobsPerPod }: StandbyTemplate,
  ): Promise<Binding | null> {
    const { name } = job.metadata;
    const { uid } = pod.metadata;
    const { client, time, log } = this.#deps;
    this.#view.binding.set(name, { account: request.account, jobs: jobsOf(job) + 1 });
    const end = (): void => {
      this.#view.binding.delete(name);
      this.#wake();
    };
    try {
      const [bound, spec] = await Promise.all([
        bindJob({ client, now: time.now(), jobsPerPod }, { job, path: `${this.#path}/${name}`, request }),
        this.#deps.completeSpec(request),
      ]);
      this.#view.jobs.wrote(bound);
      if (spec === null) throw new Error(`attempt ${request.attempt} is not the current one of its job`);
      this.#refills.delay(kind);
      await faultPoint('after-standby-bound');
      return { name, send: () => this.#view.polls.send(uid, spec), end };
    } catch (error) {
      end();
      log.warn({ err: error, standby: name, job_id: request.spec.jobId }, 'standby not bound');
      return null;
    }
  }

  #plan(): StandbyPlan {
    const targets = this.#templates.map((template) => {
      const { kind, hash } = template;
      return { kind, hash, count: this.#countOf(template), refillAt: this.#refills.at(kind) };
    });
    return planStandbys(targets, this.list(), this.#deps.time.now());
  }

  async #create(kind: StandbyKind): Promise<void> {
    const template = this.#templates.find((one) => one.kind === kind);
    if (template === undefined) return;
    const job = buildStandbyJob(template, `standby-${kind}-${nameWord(8)}`);
    this.#view.jobs.wrote(await this.#deps.client.create(this.#path, job));
  }

  #templateOf(kind: Kind | null): StandbyTemplate | undefined {
    return this.#templates.find((template) => template.kind === (kind ?? 'unknown'));
  }

  #countOf({ kind }: StandbyTemplate): number {
    return this.#options.pod.standby[kind] ?? 0;
  }
}
