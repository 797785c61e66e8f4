/** How a run's process is told of its files; apart from the schemas, so that it can start without them. */

/** Largest outcome, as Kubernetes allows for a termination message. */
export const TERMINATION_BYTES = 4096;

/** Settings of `run-job.ts`, read from the environment. */
export const RUN_SPEC_FILE = 'MEDIAJOBS_RUN_SPEC_FILE';
export const TERMINATION_FILE = 'MEDIAJOBS_TERMINATION_FILE';
