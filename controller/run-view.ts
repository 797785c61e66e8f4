/** State of runs from their Jobs, pods and events. The pods of a run that was bound to a standby are the standby's. */
import type { KubeClient } from '#crds/kube/kube-client.ts';
import { orNull } from '#crds/kube/kube-error.ts';
import type { KubeObject } from '#crds/kube/kube-object.ts';
import type { Reflector } from '#crds/kube/reflector.ts';
import type { Time } from '#crds/kube/time.ts';
import { standbyOf } from '#controller/bound-run-state.ts';
import { SeenPodTimes } from '#controller/pod-times.ts';
import { asRun, explainedRun, JOB_OF_POD, jobsPath, ownedBy, podsPath } from '#controller/run-objects.ts';
import { isWorkerRunning, occupiesNode } from '#controller/run-state.ts';
import { isUnfinishedRun, type Run } from '#controller/runs.ts';
import { BOUND_ANNOTATION } from '#controller/standby-manifest.ts';
import type { Standbys } from '#controller/standbys.ts';
import { StartEvents } from '#controller/start-events.ts';

export interface RunViewDeps {
  readonly client: Pick<KubeClient, 'get' | 'list'>;
  readonly pods: Pick<Reflector, 'store' | 'watch'>;
  readonly time: Pick<Time, 'now' | 'wait'>;
  readonly standbys: Pick<Standbys, 'podsOf'> | null;
}

export interface RunViewOptions {
  readonly namespace: string;
  /** Returns the Jobs of all runs. */
  readonly jobs: () => readonly KubeObject[];
  /** Called with the name of a run that has another message of an event than before. */
  readonly onChange: (run: string) => void;
}

export class RunView {
  readonly #deps: RunViewDeps;
  readonly #options: RunViewOptions;
  readonly #podTimes: SeenPodTimes;
  readonly #startEvents: StartEvents;

  constructor(deps: RunViewDeps, options: RunViewOptions, signal: AbortSignal) {
    this.#deps = deps;
    this.#options = options;
    this.#podTimes = new SeenPodTimes(() => deps.time.now());
    this.#startEvents = new StartEvents(
      deps,
      {
        namespace: options.namespace,
        withoutPod: () => this.#unexplained().withoutPod,
        unstarted: () => this.#unexplained().unstarted,
        onChange: options.onChange,
      },
      signal,
    );
    deps.pods.watch(({ type, object }) => {
      if (type === 'deleted') this.forgetPod(object);
      else if (isWorkerRunning(object)) this.#podTimes.runningSince(object);
    }, signal);
  }

  runOf(job: KubeObject, pods = this.#podsOf(job)): Run {
    const run = asRun(job, pods, this.#podTimes);
    return explainedRun(run, { hasPod: pods.length > 0, message: this.#startEvents.messageOf(run.name) });
  }

  /** Reads a run from the API server, not from the cache. */
  async readRun(job: KubeObject): Promise<Run> {
    const { client } = this.#deps;
    const { namespace } = this.#options;
    const { name, uid } = job.metadata;
    const standby = standbyOf(job);
    const [now, pods, standbyJob] = await Promise.all([
      orNull(client.get(`${jobsPath(namespace)}/${name}`), 404),
      client.list(podsPath(namespace), { labelSelector: `${JOB_OF_POD}=${standby ?? name}` }),
      standby === null ? null : orNull(client.get(`${jobsPath(namespace)}/${standby}`), 404),
    ]);
    const bound = standbyJob?.metadata.annotations?.[BOUND_ANNOTATION] ?? name;
    const own = standby === null ? ownedBy(job, pods.items) : bound === name ? pods.items : [];
    return this.runOf(now?.metadata.uid === uid ? now : job, own);
  }

  isUnfinished(job: KubeObject): boolean {
    return isUnfinishedRun(this.runOf(job));
  }

  /** Returns whether a run is unfinished, or a container that was injected into its pod still runs. */
  occupies(job: KubeObject): boolean {
    return this.isUnfinished(job) || this.#podsOf(job).some((pod) => occupiesNode(pod));
  }

  forgetPod(pod: KubeObject): void {
    this.#podTimes.forget(pod);
  }

  #podsOf(job: KubeObject): readonly KubeObject[] {
    const standby = standbyOf(job);
    if (standby !== null) return this.#deps.standbys?.podsOf(standby, job.metadata.name) ?? [];
    return ownedBy(job, this.#deps.pods.store.indexed(job.metadata.name));
  }

  /** Returns the Jobs that wait without a known reason: those without a pod, and by pod those whose pod has a node. */
  #unexplained(): { withoutPod: readonly string[]; unstarted: ReadonlyMap<string, string> } {
    const withoutPod: string[] = [];
    const unstarted = new Map<string, string>();
    for (const job of this.#options.jobs()) {
      const pods = this.#podsOf(job);
      const { status, name, node } = asRun(job, pods, this.#podTimes);
      if (status.state !== 'waiting' || status.waitingFor !== null) continue;
      if (pods.length === 0) withoutPod.push(name);
      else if (node !== null) for (const { metadata } of pods) unstarted.set(metadata.name, name);
    }
    return { withoutPod, unstarted };
  }
}
