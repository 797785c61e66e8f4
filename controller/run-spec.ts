import { isFormat, type Format } from '#crds/formats.ts';
import type { JobTicket, MediaJob } from '#crds/media-job.ts';
import type { RunSpec } from '#crds/run-spec.ts';
import { statusOf } from '#controller/status.ts';
import type { Timing } from '#controller/timing.ts';

interface RunSpecInput {
  readonly mediaJob: MediaJob;
  readonly ticket: JobTicket;
  readonly attempt: number;
  readonly heartbeat: { readonly url: string; readonly token: string };
  readonly now: Date;
}

/**
 * What one attempt gets: the input's URL and the output of this attempt only.
 * @throws Error when the ticket lacks one of them; the job cannot start then.
 */
export function buildRunSpec(
  timing: Pick<Timing, 'jobRunSeconds' | 'heartbeatIntervalSeconds'>,
  input: RunSpecInput,
): RunSpec {
  const { mediaJob, ticket, attempt, heartbeat } = input;
  const { spec } = mediaJob;
  const output = ticket.outputs[attempt - 1];
  if (ticket.inputUrl === null) throw new Error(`The ticket of ${mediaJob.metadata.name} has no input URL.`);
  if (output === undefined)
    throw new Error(`The ticket of ${mediaJob.metadata.name} has no output for attempt ${attempt}.`);
  return {
    jobId: spec.jobId,
    attempt,
    operation: spec.operation,
    options: { ...spec.options, convert: { ...spec.options.convert, to: target(spec.options.convert.to) } },
    limits: spec.limits,
    features: spec.features,
    timeoutSeconds: secondsLeft(timing, input),
    filename: ticket.filename,
    input: { url: ticket.inputUrl, etag: ticket.inputEtag, size: spec.inputSize },
    output,
    heartbeat: { ...heartbeat, intervalSeconds: timing.heartbeatIntervalSeconds },
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
