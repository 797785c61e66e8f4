import { isFormat } from '#crds/catalogue/formats.ts';
import type { MediaJob } from '#crds/contract/media-job.ts';
import type { OpenRunSpec } from '#crds/contract/run-spec.ts';
import { unnamedWorkOrder, type UnnamedWorkOrder } from '#crds/contract/work-order.ts';
import { statusOf } from '#controller/status.ts';
import type { Timing } from '#controller/timing.ts';

interface RunSpecInput {
  readonly mediaJob: MediaJob;
  readonly attempt: number;
  readonly heartbeatUrl: string;
  readonly now: Date;
  readonly isTraced: boolean;
}

/**
 * Returns the spec of one attempt without its secret part.
 * @throws Error when the MediaJob asks for a format that does not exist.
 */
export function buildRunSpec(
  timing: Pick<Timing, 'jobRunSeconds' | 'heartbeatIntervalSeconds'>,
  input: RunSpecInput,
): OpenRunSpec {
  const { mediaJob, attempt, heartbeatUrl, isTraced } = input;
  const { spec } = mediaJob;
  return {
    jobId: spec.jobId,
    attempt,
    ...knownOrder(unnamedWorkOrder(spec)),
    timeoutSeconds: secondsLeft(timing, input),
    input: { size: spec.inputSize },
    heartbeat: { url: heartbeatUrl, intervalSeconds: timing.heartbeatIntervalSeconds },
    ...(isTraced && { isTraced }),
  };
}

/** Checks the target format: the API server accepts any text. */
function knownOrder(order: UnnamedWorkOrder): UnnamedWorkOrder {
  const { to } = order.options.convert;
  if (to === null || isFormat(to)) return order;
  throw new Error(`The MediaJob requests the format ${String(to)}, which does not exist.`);
}

/** Returns the remaining run time in seconds. All attempts of a job share one limit. */
function secondsLeft(timing: Pick<Timing, 'jobRunSeconds'>, { mediaJob, now }: RunSpecInput): number {
  const { startedAt } = statusOf(mediaJob);
  const used = startedAt === null ? 0 : (now.getTime() - Date.parse(startedAt)) / 1000;
  return Math.max(1, Math.floor(timing.jobRunSeconds - used));
}
