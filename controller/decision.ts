import type { Reason } from '#crds/names.ts';
import type { RunOutcome } from '#crds/run-spec.ts';
import type { LostCause, WaitingFor } from '#controller/runs.ts';

/** What to do next about a MediaJob. Each but the first two is one status write. */
export type Decision =
  /** The MediaJob is final or gone: its runs end and are forgotten. */
  | { readonly action: 'release' }
  /** Nothing to do before that time, unless something changes. */
  | { readonly action: 'wait'; readonly until: Date }
  | { readonly action: 'suspend' }
  /** `recorded`: the status names the attempt already, the controller ended before it could start it. */
  | { readonly action: 'start'; readonly attempt: number; readonly recorded: boolean; readonly giveUpAt: Date }
  | { readonly action: 'show-waiting'; readonly for: WaitingFor }
  | { readonly action: 'mark-running'; readonly startedAt: Date; readonly percent: number }
  | { readonly action: 'show-percent'; readonly percent: number }
  | { readonly action: 'lose'; readonly cause: LostCause; readonly message: string }
  | { readonly action: 'finish'; readonly reason: Reason; readonly outcome: RunOutcome };
