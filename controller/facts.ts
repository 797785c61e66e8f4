import type { MediaJob } from '#crds/contract/media-job.ts';
import type { SilenceRule } from '#controller/collective-silence.ts';
import type { Heartbeat } from '#controller/heartbeat-records.ts';
import type { Run } from '#controller/runs.ts';

/** State on which the decision about a MediaJob depends, read at one time. */
export interface JobFacts {
  readonly now: Date;
  readonly name: string;
  /** MediaJob; null: deleted. */
  readonly mediaJob: MediaJob | null;
  /** The MediaJob exists without the label of an installation, and has unfinished runs of this one. */
  readonly isUnclaimed: boolean;
  /** Current or last attempt: the one in the status, or that of a first run that is not in the status yet. */
  readonly attempt: number;
  /** Run of that attempt; null when there is none. */
  readonly run: Run | null;
  /** Unfinished runs to stop: of earlier attempts, or of an earlier MediaJob with the same name. */
  readonly strays: readonly Run[];
  /** Number of attempts of this MediaJob that ran out of memory. */
  readonly outOfMemory: number;
  /** Heartbeat of the current attempt; null before the first one. */
  readonly heartbeat: Heartbeat | null;
  /** Time since which this process receives heartbeats. */
  readonly listeningSince: Date;
  /** Whether the rule for silent attempts is suspended. */
  readonly silenceRule: SilenceRule;
  /** Time at which this process last wrote the percentage; null: never. */
  readonly percentWrittenAt: Date | null;
}
