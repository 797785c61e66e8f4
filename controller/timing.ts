import { LIMITS } from '#crds/catalogue/plans.ts';

/** Deadlines and intervals of the controller (docs/reference/limits-and-prices.md#limits-for-every-plan). */
export interface Timing {
  /** Number of lost attempts that fails a job, without `maxDisruptions`. */
  readonly maxAttempts: number;
  /** Number of attempts lost by evictions, preemptions and node drains that do not count. */
  readonly maxDisruptions: number;
  /** Maximum run time from the first heartbeat of the job's first attempt. */
  readonly jobRunSeconds: number;
  readonly jobWaitSeconds: number;
  /** Time after which a run that the installation cannot start fails its job. */
  readonly impossibleStartSeconds: number;
  /** Interval of a worker's heartbeats. */
  readonly heartbeatIntervalSeconds: number;
  /** Time without a heartbeat after which an attempt is lost. */
  readonly heartbeatTimeoutSeconds: number;
  /** Time without a heartbeat in which a reporting node is believed while most attempts are silent together. */
  readonly trustedSilenceSeconds: number;
  /** Interval in which the silence of all attempts is counted. */
  readonly silenceCheckMs: number;
  /** Minimum increase of the percentage that is written to the status. */
  readonly percentStep: number;
  /** Minimum interval between writes of the percentage of a job. */
  readonly percentIntervalMs: number;
  /** Interval in which waiting jobs try to reserve a slot, in addition to the end of each run, and ask for a standby. */
  readonly capacityRetryMs: number;
  /** Interval in which every MediaJob and run is reconciled: the maximum delay after a lost event. */
  readonly resyncMs: number;
}

/** Timing of one machine, where MediaJobs are in memory and status writes are cheap. */
export const LOCAL_TIMING: Timing = {
  maxAttempts: LIMITS.jobAttempts,
  maxDisruptions: LIMITS.jobDisruptions,
  jobRunSeconds: LIMITS.jobRunSeconds,
  jobWaitSeconds: LIMITS.jobWaitSeconds,
  impossibleStartSeconds: 300,
  heartbeatIntervalSeconds: 1,
  heartbeatTimeoutSeconds: 60,
  trustedSilenceSeconds: 600,
  silenceCheckMs: 5000,
  percentStep: 1,
  percentIntervalMs: 500,
  capacityRetryMs: 1000,
  resyncMs: 10_000,
};

/** Timing of a cluster, where every status write goes through etcd and events are rarely lost. */
export const CLUSTER_TIMING: Timing = {
  ...LOCAL_TIMING,
  heartbeatIntervalSeconds: 10,
  percentStep: 5,
  percentIntervalMs: 10_000,
  resyncMs: 600_000,
};
