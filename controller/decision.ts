import type { Reason } from '#crds/contract/names.ts';
import type { RunOutcome } from '#crds/contract/run-spec.ts';
import type { LostCause, WaitingFor } from '#controller/runs.ts';

/** Next action for a MediaJob. Each except the first two makes one status write, `start` at most one. */
export type Decision =
  /** The MediaJob is final or deleted: its runs are stopped and forgotten. */
  | { readonly action: 'release' }
  /** Nothing to do before a time, unless something changes. */
  | { readonly action: 'wait'; readonly until: Date }
  | { readonly action: 'suspend' }
  /** `recordFirst`: the attempt is written to the status before its run starts. `deadline`: latest start. */
  | { readonly action: 'start'; readonly attempt: number; readonly recordFirst: boolean; readonly deadline: Date }
  | { readonly action: 'show-waiting'; readonly waitingFor: WaitingFor }
  /** The attempt is silent and not lost by that: most are, or it has never been heard. */
  | { readonly action: 'show-silence' }
  | { readonly action: 'mark-running'; readonly startedAt: Date; readonly percent: number }
  | { readonly action: 'show-percent'; readonly percent: number }
  | { readonly action: 'lose'; readonly cause: LostCause; readonly message: string }
  /** `contradiction`: rule that the rejected report of the attempt violates. */
  | {
      readonly action: 'finish';
      readonly reason: Reason;
      readonly outcome: RunOutcome;
      readonly contradiction?: string;
    };
