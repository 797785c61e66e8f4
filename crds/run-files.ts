/** How a run's process is told of its work; apart from the schemas, so that it can start without them. */

/** Largest outcome, as Kubernetes allows for a termination message. */
export const TERMINATION_BYTES = 4096;

/** Settings of `run-job.ts`, read from the environment. */
export const RUN_SPEC_FILE = 'MEDIAJOBS_RUN_SPEC_FILE';
/** The part of the RunSpec that is no secret, as JSON, where the files hold only the rest. */
export const RUN_SPEC = 'MEDIAJOBS_RUN_SPEC';
export const TERMINATION_FILE = 'MEDIAJOBS_TERMINATION_FILE';

/** Between the files that hold parts of one RunSpec. */
export const BETWEEN_FILES = ':';

/** One RunSpec from its parts, each an object of which any field of the first or second level may be missing. */
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
