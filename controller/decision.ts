import type { Reason } from '#crds/names.ts';
import type { RunOutcome } from '#crds/run-spec.ts';
import type { LostCause, WaitingFor } from '#controller/runs.ts';

/** What to do next about a MediaJob. Each but the first two is one status write, a start at most one. */
export type Decision =
  /** The MediaJob is final or gone: its runs end and are forgotten. */
  | { readonly action: 'release' }
  /** Nothing to do before that time, unless something changes. */
  | { readonly action: 'wait'; readonly until: Date }
  | { readonly action: 'suspend' }
  /** `recordFirst`: the status has to name the attempt before its run may start. */
  | { readonly action: 'start'; readonly attempt: number; readonly recordFirst: boolean; readonly giveUpAt: Date }
  | { readonly action: 'show-waiting'; readonly for: WaitingFor }
  | { readonly action: 'mark-running'; readonly startedAt: Date; readonly percent: number }
  | { readonly action: 'show-percent'; readonly percent: number }
  | { readonly action: 'lose'; readonly cause: LostCause; readonly message: string }
  | { readonly action: 'finish'; readonly reason: Reason; readonly outcome: RunOutcome };
