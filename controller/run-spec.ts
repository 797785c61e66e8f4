import { isFormat, type Format } from '#crds/formats.ts';
import type { MediaJob } from '#crds/media-job.ts';
import type { OpenRunSpec } from '#crds/run-spec.ts';
import { statusOf } from '#controller/status.ts';
import type { Timing } from '#controller/timing.ts';

interface RunSpecInput {
  readonly mediaJob: MediaJob;
  readonly attempt: number;
  /** Where to report to. */
  readonly heartbeatUrl: string;
  readonly now: Date;
}

/**
 * What one attempt gets, but for what is secret.
 * @throws Error when the MediaJob asks for a format that does not exist.
 */
export function buildRunSpec(
  timing: Pick<Timing, 'jobRunSeconds' | 'heartbeatIntervalSeconds'>,
  input: RunSpecInput,
): OpenRunSpec {
  const { mediaJob, attempt, heartbeatUrl } = input;
  const { spec } = mediaJob;
  return {
    jobId: spec.jobId,
    attempt,
    operation: spec.operation,
    options: { ...spec.options, convert: { ...spec.options.convert, to: target(spec.options.convert.to) } },
    limits: spec.limits,
    features: spec.features,
    timeoutSeconds: secondsLeft(timing, input),
    input: { size: spec.inputSize },
    heartbeat: { url: heartbeatUrl, intervalSeconds: timing.heartbeatIntervalSeconds },
  };
}

function target(to: string | null): Format | null {
  if (to === null) return null;
  if (isFormat(to)) return to;
  throw new Error(`The MediaJob asks for the format ${to}, which does not exist.`);
}

/** The clock of a job goes on across its attempts. */
function secondsLeft(timing: Pick<Timing, 'jobRunSeconds'>, { mediaJob, now }: RunSpecInput): number {
  const { startedAt } = statusOf(mediaJob);
  const used = startedAt === null ? 0 : (now.getTime() - Date.parse(startedAt)) / 1000;
  return Math.max(1, Math.floor(timing.jobRunSeconds - used));
}
