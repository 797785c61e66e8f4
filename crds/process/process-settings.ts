import type { SettingName } from '#crds/process/settings.ts';

/** Settings of every process with a clock and an ops port, for `settings.pick`. */
export const PROCESS_SETTINGS = {
  MEDIAJOBS_OPS_SOCKET: true,
  MEDIAJOBS_OPS_HOST: true,
  MEDIAJOBS_OPS_PORT: true,
  MEDIAJOBS_LOG_LEVEL: true,
  MEDIAJOBS_CLOCK_FILE: true,
  MEDIAJOBS_FAULTS_DIR: true,
} as const satisfies Partial<Record<SettingName, true>>;

/** Settings of every process that records spans, for `settings.pick`. */
export const TRACE_SETTINGS = {
  MEDIAJOBS_TRACES_URL: true,
  MEDIAJOBS_TRACES_SHARE: true,
} as const satisfies Partial<Record<SettingName, true>>;
