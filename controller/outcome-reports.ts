/** Outcomes that workers have reported before the end of their pods was, by job. */
import { isFinal, type MediaJob } from '#crds/contract/media-job.ts';
import { LABELS } from '#crds/contract/names.ts';
import { parseRunOutcome, type OutcomeReport, type RunOutcome } from '#crds/contract/run-spec.ts';

interface ReportedOutcome {
  readonly attempt: number;
  readonly dispatch: string;
  readonly outcome: RunOutcome;
}

export class OutcomeReports {
  readonly #reported = new Map<string, ReportedOutcome>();

  /** Records a report. Returns the status of the response: 400 for no outcome, 410 when the attempt is not current. */
  record(mediaJob: MediaJob | null, { jobId, attempt, dispatch, outcome }: OutcomeReport): 204 | 400 | 410 {
    const parsed = parseRunOutcome(outcome);
    if (parsed === null) return 400;
    if (!isCurrent(mediaJob, attempt) || mediaJob?.metadata.labels[LABELS.dispatch] !== dispatch) return 410;
    this.#reported.set(jobId, { attempt, dispatch, outcome: parsed });
    return 204;
  }

  /** Returns the outcome that an attempt of the MediaJob with that nonce has reported; null: none. */
  find(jobId: string, attempt: number, dispatch: string): RunOutcome | null {
    const found = this.#reported.get(jobId);
    return found?.attempt === attempt && found.dispatch === dispatch ? found.outcome : null;
  }

  forget(jobId: string): void {
    this.#reported.delete(jobId);
  }
}

/**
 * Returns whether an attempt is the current one. An attempt above that of the status has a valid token: it was recorded
 * recently and the cached status is older.
 */
export function isCurrent(mediaJob: MediaJob | null, attempt: number): boolean {
  if (mediaJob === null || isFinal(mediaJob.status)) return false;
  const current = mediaJob.status?.attempt ?? 0;
  return attempt > current || (attempt === current && mediaJob.status?.reason !== 'AttemptLost');
}
