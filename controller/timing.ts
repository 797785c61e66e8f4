import { LIMITS } from '#crds/plans.ts';

/** The controller's clocks. Spec: Limits independent of plan; the rest are ours. */
export interface Timing {
  readonly maxAttempts: number;
  /** From the first heartbeat of the job's first attempt. */
  readonly jobRunSeconds: number;
  readonly jobWaitSeconds: number;
  /** How often a worker reports. */
  readonly heartbeatIntervalSeconds: number;
  /** An attempt that was silent for so long is lost. */
  readonly heartbeatTimeoutSeconds: number;
  /** The status follows the percent in steps of so many points at least … */
  readonly percentStep: number;
  /** … and at most this often per job. */
  readonly percentIntervalMs: number;
  /** Jobs without a place ask again this often, besides whenever a run ends. */
  readonly capacityRetryMs: number;
  /** Every MediaJob and every run is looked at this often, so that a lost hint costs no more than this. */
  readonly resyncMs: number;
}

/** For a machine whose MediaJobs are in memory, where a status write costs nothing. */
export const LOCAL_TIMING: Timing = {
  maxAttempts: LIMITS.jobAttempts,
  jobRunSeconds: LIMITS.jobRunSeconds,
  jobWaitSeconds: LIMITS.jobWaitSeconds,
  heartbeatIntervalSeconds: 1,
  heartbeatTimeoutSeconds: 60,
  percentStep: 1,
  percentIntervalMs: 500,
  capacityRetryMs: 1000,
  resyncMs: 10_000,
};

/** For a cluster, where every status write goes through etcd and hints seldom get lost. */
export const CLUSTER_TIMING: Timing = {
  ...LOCAL_TIMING,
  heartbeatIntervalSeconds: 10,
  percentStep: 5,
  percentIntervalMs: 10_000,
  resyncMs: 600_000,
};
