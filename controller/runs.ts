/**
 * Where attempts run: child processes of this machine, or Kubernetes Jobs. One run is one attempt of
 * one MediaJob. Both implementations pass `test/contract/runs.ts`. Changes are hints: a reader always
 * observes again.
 *
 *   (start) → waiting → active → ended (the worker left an outcome)
 *                 ╲        ╲ ──→ lost  (it did not)
 */
import type { Kind } from '#crds/formats.ts';
import type { JobTicket } from '#crds/media-job.ts';
import type { OpenRunSpec, RunOutcome } from '#crds/run-spec.ts';

/** Why an attempt left no outcome. A closed set: it is a metric's label. */
export const LOST_CAUSES = ['no_heartbeat', 'out_of_memory', 'crashed', 'evicted', 'stopped', 'vanished'] as const;
export type LostCause = (typeof LOST_CAUSES)[number];

export interface RunOwner {
  /** Of the MediaJob. */
  readonly name: string;
  readonly uid: string;
}

export interface RunRequest {
  readonly owner: RunOwner;
  readonly attempt: number;
  readonly spec: OpenRunSpec;
  /** Guess from the file name, for sizing. */
  readonly kind: Kind | null;
  readonly account: string;
  /** What of the spec is secret: a pod mounts this Secret … */
  readonly secretName: string;
  /** … a process of this machine is given it; null when it does not exist. */
  readonly ticket: () => Promise<JobTicket | null>;
}

/** Why a run has no place, in a sentence for the operator. */
export interface WaitingFor {
  readonly on: 'capacity' | 'image';
  readonly message: string;
}

export type RunState =
  /** It has no place yet, such as a pod that no node takes; `for` null: it is about to start. */
  | { readonly state: 'waiting'; readonly for: WaitingFor | null }
  | { readonly state: 'active'; readonly startedAt: Date }
  | { readonly state: 'ended'; readonly startedAt: Date; readonly outcome: RunOutcome }
  | { readonly state: 'lost'; readonly cause: LostCause; readonly message: string };

export interface Run {
  /** `runName` of owner and attempt. */
  readonly name: string;
  readonly owner: RunOwner;
  readonly attempt: number;
  readonly node: string | null;
  readonly is: RunState;
}

export interface Runs {
  /**
   * Takes a place for a run that starts next, so that no attempt is recorded that cannot start.
   * false: no capacity. Repeatable; `stop` gives an unused place back.
   */
  reserve(name: string): Promise<boolean>;
  /** Starts an attempt, in its reserved place or a free one. 'exists' when this very attempt was started before. */
  start(request: RunRequest): Promise<'started' | 'exists' | 'no-capacity'>;
  /**
   * Every run of a MediaJob of that name, whatever its uid: running, ended or lost. `fresh`: as it is at this
   * moment, not as last seen; asked before what cannot be taken back.
   */
  observe(mediaJobName: string, fresh?: boolean): Promise<readonly Run[]>;
  list(): Promise<readonly Run[]>;
  /** Ends a run with all its processes; it is lost then. No error when it has ended or never was. */
  stop(name: string): Promise<void>;
  /** Stops every run of the MediaJob and forgets them. */
  release(mediaJobName: string): Promise<void>;
  /** Calls back with the MediaJob's name whenever one of its runs changes or gives its place back. */
  watch(onChange: (mediaJobName: string) => void, signal: AbortSignal): void;
}

/** `job-x`, 2 → `job-x-a2`. */
export function runName(mediaJobName: string, attempt: number): string {
  return `${mediaJobName}-a${attempt}`;
}

export function mediaJobOfRun(name: string): string {
  return name.slice(0, name.lastIndexOf('-a'));
}

/** True while it may still do work. */
export function isUnderWay(run: Run): boolean {
  return run.is.state === 'waiting' || run.is.state === 'active';
}
