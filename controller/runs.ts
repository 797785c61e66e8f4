/**
 * Runs of attempts, as child processes of this machine or as Kubernetes Jobs. One run is one attempt of one MediaJob.
 * Both implementations pass `test/contract/runs.ts`. Notifications of changes are hints: readers observe again.
 *
 *   (start) → waiting → active → ended (with an outcome of the worker)
 *                 ╲        ╲ ──→ lost  (without one)
 */
import type { PermitOwner } from '#controller/kind-permits.ts';
import type { Kind } from '#crds/catalogue/formats.ts';
import type { JobTicket } from '#crds/contract/media-job.ts';
import type { OpenRunSpec, RunOutcome } from '#crds/contract/run-spec.ts';

/** Causes of lost attempts: a closed set, because they are values of a metric label. */
export const LOST_CAUSES = ['no_heartbeat', 'out_of_memory', 'crashed', 'evicted', 'stopped', 'vanished'] as const;
export type LostCause = (typeof LOST_CAUSES)[number];

export interface RunOwner {
  /** Name and uid of the MediaJob. */
  readonly name: string;
  readonly uid: string;
}

export interface RunRequest {
  readonly owner: RunOwner;
  readonly attempt: number;
  readonly spec: OpenRunSpec;
  /** Kind by the file name, for sizing. */
  readonly kind: Kind | null;
  readonly account: string;
  /** Nonce of the MediaJob. */
  readonly dispatch: string;
  /** Secret with the secret part of the spec, which a pod mounts. */
  readonly secretName: string;
  /** Returns the secret part of the spec, for a process of this machine; null when it does not exist. */
  readonly ticket: () => Promise<JobTicket | null>;
}

/** Reason why a run cannot start yet, with a sentence for the operator. */
export interface WaitingFor {
  /** `quota`: Kubernetes creates no pod while a quota is full. `refused`: it creates none for another reason. `not-started`: the node cannot prepare the pod or start its container. */
  readonly reason: 'capacity' | 'quota' | 'image' | 'refused' | 'not-started';
  readonly message: string;
  /** Time since which the run is known to need a change of the installation; absent: it may start later. */
  readonly impossibleSince?: Date;
}

export type RunState =
  /** The run cannot start yet, such as an unschedulable pod; `waitingFor` null: it is about to start. */
  | { readonly state: 'waiting'; readonly waitingFor: WaitingFor | null }
  /** `startedAt` by this process's clock. `isOnReadyNode`: a node that reports says that it runs; false on one machine. */
  | { readonly state: 'active'; readonly startedAt: Date; readonly isOnReadyNode: boolean }
  | { readonly state: 'ended'; readonly startedAt: Date; readonly outcome: RunOutcome }
  | { readonly state: 'lost'; readonly cause: LostCause; readonly message: string };

/** State of a run that was stopped. */
export const STOPPED_RUN = { state: 'lost', cause: 'stopped', message: 'it was stopped' } as const satisfies RunState;

export interface Run {
  /** `runName` of owner and attempt. */
  readonly name: string;
  readonly owner: RunOwner;
  readonly attempt: number;
  readonly node: string | null;
  readonly status: RunState;
}

export interface Runs {
  /**
   * Reserves a slot for a run that starts next, so that no attempt is recorded that cannot start. Returns false when
   * there is no capacity or another account is next. Idempotent; `stop` releases an unused slot.
   */
  reserve(name: string, owner: PermitOwner): Promise<boolean>;
  /** Starts an attempt in its reserved slot or a free one. Returns 'exists' when this attempt was started before. */
  start(request: RunRequest): Promise<'started' | 'exists' | 'no-capacity'>;
  /**
   * Returns every run of MediaJobs of that name, with any uid: active, ended or lost. `fresh`: reads the source instead
   * of a cache, for irreversible decisions.
   */
  observe(mediaJobName: string, fresh?: boolean): Promise<readonly Run[]>;
  list(): Promise<readonly Run[]>;
  /** Stops a run with all its processes; it is lost then. Does nothing when it has ended or does not exist. */
  stop(name: string): Promise<void>;
  /**
   * Stops every run of the MediaJob and forgets them. `ended`: name of the run that has ended with an outcome; the pod
   * that performed it may go on with another job.
   */
  release(mediaJobName: string, ended?: string): Promise<void>;
  /** Calls back with the MediaJob's name whenever one of its runs changes or releases its slot. */
  watch(onChange: (mediaJobName: string) => void, signal: AbortSignal): void;
}

/** Returns the name of a run: `job-x`, 2 → `job-x-a2`. */
export function runName(mediaJobName: string, attempt: number): string {
  return `${mediaJobName}-a${attempt}`;
}

export function mediaJobOfRun(name: string): string {
  return name.slice(0, name.lastIndexOf('-a'));
}

/** Returns whether a run is waiting or active. */
export function isUnfinishedRun(run: Run): boolean {
  return run.status.state === 'waiting' || run.status.state === 'active';
}

/** Returns whether a run waits for something other than capacity or a quota, which a person has to mend. */
export function isNotStarting({ status }: Run): boolean {
  return (
    status.state === 'waiting' &&
    status.waitingFor !== null &&
    !['capacity', 'quota'].includes(status.waitingFor.reason)
  );
}
