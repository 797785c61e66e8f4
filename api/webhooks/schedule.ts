/** Maximum number of attempts of one delivery: docs/reference/webhooks.md#responses-and-retries. */
export const ATTEMPTS = 8;

/** Delays from the failure of attempt 1, 2, … 7 to the next one, in seconds. */
const DELAYS_SECONDS = [10, 60, 5 * 60, 30 * 60, 2 * 3600, 6 * 3600, 12 * 3600] as const;

/** Returns the time of the attempt after the given one (1 to 8); null after the last. */
export function nextAttemptAt(attempt: number, failedAt: Date): Date | null {
  const seconds = DELAYS_SECONDS[attempt - 1];
  return seconds === undefined ? null : new Date(failedAt.getTime() + seconds * 1000);
}
