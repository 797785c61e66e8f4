/**
 * Standbys: pods that have started and wait for a small job, each the pod of a Kubernetes Job of its own. Keeps as many
 * as the settings ask for, and binds them to attempts.
 *
 *   starting ──→ ready: its request for a run is open ──→ bound to one attempt ──→ ended
 *          ╲──────────╲──→ deleted: outdated or surplus · ended: replaced
 *
 * Two writes bind a standby: the patch of its Job with the attempt's name, and the creation of the attempt's Job with
 * its name (`controller/kubernetes-runs.ts`). Its run is sent after both. Bound standbys that their attempt's Job does
 * not name are deleted.
 */
import type { KubeClient } from '#crds/kube/kube-client.ts';
import { orNull } from '#crds/kube/kube-error.ts';
import type { KubeObject } from '#crds/kube/kube-object.ts';
import type { Time } from '#crds/kube/time.ts';
import type { Installation } from '#crds/media-jobs/installation.ts';
import { nameWord } from '#crds/contract/ids.ts';
import { LABELS } from '#crds/contract/names.ts';
import type { RunSpec } from '#crds/contract/run-spec.ts';
import { faultPoint } from '#crds/process/fault-point.ts';
import type { Log } from '#crds/process/log.ts';
import { bindJob } from '#controller/bind-job.ts';
import { planStandbys, type Standby } from '#controller/plan-standbys.ts';
import type { VerifyPodToken } from '#controller/pod-token.ts';
import { jobsPath } from '#controller/run-objects.ts';
import type { RunRequest } from '#controller/runs.ts';
import {
  buildStandbyJob,
  buildStandbyTemplate,
  SMALL_INPUT_BYTES,
  type StandbyTemplate,
} from '#controller/standby-manifest.ts';
import { StandbyView, type RunningStandby, type StandbyViewDeps } from '#controller/standby-view.ts';
import { standbyCounts, type WorkerPod } from '#controller/worker-pod.ts';

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
  /** Where standbys ask for their run. */
  readonly url: string;
}

/** What standbys need of the runs, and what they report to them. */
export interface StandbyUser {
  /** Resolves when every Job of a run is known. */
  readonly synced: Promise<unknown>;
  /** Returns the Job of a run. */
  readonly runJob: (name: string) => KubeObject | undefined;
  /** Called with the name of a run whose pod has changed. */
  readonly onChange: (run: string) => void;
  readonly onPodDeleted: (pod: KubeObject) => void;
}

/** Results of bindings: a closed set, because they are values of a metric label. */
export const BINDING_RESULTS = ['bound', 'none_ready', 'failed'] as const;
export type BindingResult = (typeof BINDING_RESULTS)[number];

/** Standby that is bound to an attempt whose Job does not exist yet. */
export interface Binding {
  readonly name: string;
  /** Sends the run to the standby. */
  send(): void;
  /** Ends the binding. Without a Job of the attempt that names it, the standby is deleted. */
  end(): void;
}

/** 204: no run yet; 401: not a standby's token; 410: there will be no run; 503: ask again. */
export interface PollReply {
  readonly status: 200 | 204 | 401 | 410 | 503;
  readonly body?: RunSpec;
}

/** Time after a binding before the next standby of the kind is created, in milliseconds. */
const REFILL_MS = 1000;
/** Maximum time between two plans, in milliseconds. */
const PLAN_MS = 10_000;
/** Minimum time before a plan that is due, in milliseconds. */
const MIN_PLAN_MS = 100;

export class Standbys {
  readonly #deps: StandbysDeps;
  readonly #options: StandbysOptions;
  readonly #path: string;
  readonly #view: StandbyView;
  readonly #templates: readonly StandbyTemplate[];
  /** Time of the next creation after a binding, by kind. */
  readonly #refillAt = new Map<string, Date>();
  #user: StandbyUser | null = null;
  #wake: () => void = () => undefined;

  /** Observes the standbys until the signal aborts. */
  constructor(deps: StandbysDeps, options: StandbysOptions, signal: AbortSignal) {
    this.#deps = deps;
    this.#options = options;
    this.#path = jobsPath(options.namespace);
    this.#view = new StandbyView(deps, (run) => this.#user?.runJob(run), signal);
    const pod = { ...options.pod, labels: { ...options.pod.labels, [LABELS.instance]: options.instance } };
    this.#templates = standbyCounts(pod).map(([kind]) => buildStandbyTemplate(pod, kind, options.url));
    deps.jobs.watch(() => this.#wake(), signal);
    deps.pods.watch(({ type, object }) => {
      const run = this.#view.runOfPod(object);
      if (type === 'deleted') {
        this.#view.forgetPod(object);
        this.#user?.onPodDeleted(object);
      }
      if (run !== null) this.#user?.onChange(run);
      this.#wake();
    }, signal);
  }

  get synced(): Promise<unknown> {
    return this.#view.synced;
  }

  /** Starts to create and delete standbys, until the signal aborts. */
  start(user: StandbyUser, signal: AbortSignal): void {
    this.#user = user;
    void Promise.all([this.synced, user.synced]).then(() => this.#run(signal));
  }

  /** Binds a standby to a first attempt with a small input. Returns null when the attempt needs a pod of its own. */
  async bind(request: RunRequest): Promise<Binding | null> {
    const { size } = request.spec.input;
    const template = this.#templates.find(({ kind }) => kind === (request.kind ?? 'unknown'));
    const isSmall = size !== null && size <= SMALL_INPUT_BYTES;
    if (request.attempt !== 1 || !isSmall || template === undefined || this.#countOf(template) === 0) return null;
    await this.synced;
    const standby = this.#view.findReady(template);
    const binding = standby === null ? null : await this.#bindTo(standby, request);
    this.#deps.onBinding(resultOf(standby, binding));
    return binding;
  }

  /** Returns the pods of a standby. */
  podsOf(name: string): readonly KubeObject[] {
    return this.#view.podsOf(name);
  }

  /** Deletes a standby with its pod. */
  async end(name: string): Promise<void> {
    const job = this.#view.jobs.get(name);
    if (job === undefined) return;
    const options = { uid: job.metadata.uid, propagationPolicy: 'Background' } as const;
    await orNull(this.#deps.client.delete(`${this.#path}/${name}`, options), 404, 409);
    this.#view.jobs.deleted(job);
  }

  /** Answers a standby that asks for its run. Waits while it has none, as long as the signal allows. */
  async poll(token: string, signal: AbortSignal): Promise<PollReply> {
    const uid = await this.#deps.verifyToken(token);
    if (uid === null) return { status: 401 };
    await this.synced;
    const standby = this.#view.ofPod(uid);
    if (standby === 'unknown') return { status: 503 };
    if (standby === 'foreign') return { status: 401 };
    if (this.#view.mustEnd(standby)) return { status: 410 };
    const waiting = this.#view.polls.wait(uid, signal);
    this.#wake();
    const body = await waiting;
    this.#wake();
    return body === null ? { status: 204 } : { status: 200, body };
  }

  list(): readonly Standby[] {
    return this.#view.list();
  }

  async #bindTo({ job, pod }: RunningStandby, request: RunRequest): Promise<Binding | null> {
    const { name } = job.metadata;
    const { uid } = pod.metadata;
    const { client, time, log } = this.#deps;
    this.#view.binding.add(name);
    const end = (): void => {
      this.#view.binding.delete(name);
      this.#wake();
    };
    try {
      const [bound, spec] = await Promise.all([
        bindJob({ client, now: time.now() }, { job, path: `${this.#path}/${name}`, request }),
        this.#deps.completeSpec(request),
      ]);
      this.#view.jobs.wrote(bound);
      if (spec === null) throw new Error(`attempt ${request.attempt} is not the current one of its job`);
      this.#refillAt.set(request.kind ?? 'unknown', new Date(time.now().getTime() + REFILL_MS));
      await faultPoint('after-standby-bound');
      return { name, send: () => this.#view.polls.send(uid, spec), end };
    } catch (error) {
      end();
      log.warn({ err: error, standby: name, job_id: request.spec.jobId }, 'standby not bound');
      return null;
    }
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const woken = new AbortController();
      this.#wake = () => woken.abort();
      const again = await this.#carryOutPlan().catch((error: unknown) => {
        this.#deps.log.error({ err: error }, 'standbys not created or deleted');
        return null;
      });
      const due = again === null ? PLAN_MS : again.getTime() - this.#deps.time.now().getTime();
      const waited = AbortSignal.any([signal, woken.signal]);
      await this.#deps.time.wait(Math.min(PLAN_MS, Math.max(MIN_PLAN_MS, due)), waited);
    }
  }

  /** Creates and deletes standbys. Returns the time at which more are due; null: not before a change. */
  async #carryOutPlan(): Promise<Date | null> {
    const targets = this.#templates.map((template) => {
      const { kind, hash } = template;
      return { kind, hash, count: this.#countOf(template), refillAt: this.#refillAt.get(kind) ?? new Date(0) };
    });
    const { create, remove, again } = planStandbys(targets, this.list(), this.#deps.time.now());
    for (const { name, state } of remove) {
      await this.end(name);
      this.#deps.log.info({ standby: name, state }, 'standby deleted');
    }
    for (const kind of create) {
      const template = this.#templates.find((one) => one.kind === kind);
      if (template === undefined) continue;
      const job = buildStandbyJob(template, `standby-${kind}-${nameWord(8)}`);
      this.#view.jobs.wrote(await this.#deps.client.create(this.#path, job));
    }
    return again;
  }

  #countOf({ kind }: StandbyTemplate): number {
    return this.#options.pod.standby[kind] ?? 0;
  }
}

function resultOf(standby: RunningStandby | null, binding: Binding | null): BindingResult {
  if (standby === null) return 'none_ready';
  return binding === null ? 'failed' : 'bound';
}
