/** Environment of a run's process. It does not import the schemas, so that the process starts without them. */

/** Maximum size of an outcome in bytes: Kubernetes' limit of a termination message. */
export const TERMINATION_BYTES = 4096;

/**
 * File descriptor of a worker on this machine: a socket pair with JSON, one message per line. Its owner sends
 * `RunMessage`s, one at a time; the worker sends `RunReply` when it has written an outcome and left nothing of the run.
 */
export const RUN_CHANNEL = 3;
/** Name of the outcome's file in the directory of a run on this machine. */
export const TERMINATION_NAME = 'termination.json';

/** Environment variable of `run-job.ts` with the paths of the RunSpec's files. */
export const RUN_SPEC_FILE = 'MEDIAJOBS_RUN_SPEC_FILE';
/** Environment variable with the public part of the RunSpec as JSON; the files contain the rest. */
export const RUN_SPEC = 'MEDIAJOBS_RUN_SPEC';
export const TERMINATION_FILE = 'MEDIAJOBS_TERMINATION_FILE';
/** Environment variable with the isolation level that passed its trial on this machine; without it the run tries them. */
export const TRIED_ISOLATION = 'MEDIAJOBS_TRIED_ISOLATION';

/** Environment variables of `run-standby.ts`: where it asks for its run, with which token, and the kind of the file. */
export const STANDBY_URL = 'MEDIAJOBS_STANDBY_URL';
export const STANDBY_TOKEN_FILE = 'MEDIAJOBS_STANDBY_TOKEN_FILE';
export const STANDBY_KIND = 'MEDIAJOBS_STANDBY_KIND';
/** Environment variable with the maximum number of jobs of a standby, all of one account. */
export const STANDBY_JOBS = 'MEDIAJOBS_STANDBY_JOBS';
/** Audience of a standby's token. */
export const STANDBY_AUDIENCE = 'mediajobs.dev/standby';

/** Separator of the paths of a RunSpec's files. */
export const BETWEEN_FILES = ':';

/** Merges the parts of a RunSpec: objects with some of the fields of the first and second level. */
export function joinRunSpec(parts: readonly object[]): object {
  const whole: Record<string, unknown> = {};
  for (const [name, value] of parts.flatMap((part) => Object.entries(part))) {
    const known = whole[name];
    whole[name] = isRecord(known) && isRecord(value) ? { ...known, ...value } : value;
  }
  return whole;
}

function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
