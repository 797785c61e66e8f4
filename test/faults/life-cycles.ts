/**
 * Life cycles as pure functions: the valid states of a job, an upload, a delivery and the ledger after any fault. The
 * checks apply them to rows, the commands of the model to responses.
 *
 *   job        queued → processing → succeeded | failed | canceled; unfinished → canceled | failed at any time
 *   upload     created → uploaded → used by one job → deleted; unused: deleted after 24 hours
 *   delivery   queued → attempt 1 … 8 → delivered | dropped; the n-th attempt no sooner than the schedule says
 *   ledger     one row per finished job and per direct request that was worked on; billed only if live, succeeded and
 *              not kept
 */
import type { JobStatus } from '#api/jobs/job.ts';
import { nextAttemptAt } from '#api/webhooks/schedule.ts';

const NEXT: Readonly<Record<JobStatus, readonly JobStatus[]>> = {
  queued: ['queued', 'processing', 'succeeded', 'failed', 'canceled'],
  processing: ['processing', 'succeeded', 'failed', 'canceled'],
  succeeded: ['succeeded'],
  failed: ['failed'],
  canceled: ['canceled'],
};

/** Returns whether a reader may see one status after the other. */
export function mayFollow(before: JobStatus, after: JobStatus): boolean {
  return NEXT[before].includes(after);
}

export function isFinal(status: JobStatus): boolean {
  return NEXT[status].length === 1;
}

interface EndedJob {
  readonly status: JobStatus;
  readonly livemode: boolean;
  readonly billed: boolean;
  readonly keptOriginal: boolean;
  readonly hasError: boolean;
  readonly hasResult: boolean;
  readonly times: readonly (Date | null)[];
}

/** Returns the problems of a finished job. `times`: created, started, completed. */
export function wrongEnd(job: EndedJob): string[] {
  const succeeded = job.status === 'succeeded';
  const inOrder = job.times
    .filter((time) => time !== null)
    .every((time, index, all) => index === 0 || time >= all[index - 1]!);
  const rules: readonly (readonly [boolean, string])[] = [
    [isFinal(job.status), `it is still ${job.status}`],
    [job.hasResult === succeeded, 'result and status disagree'],
    [job.hasError === !succeeded, 'error and status disagree'],
    [job.billed === (succeeded && job.livemode && !job.keptOriginal), `billed is ${job.billed}`],
    [inOrder, 'its times run backwards'],
  ];
  return rules.filter(([holds]) => !holds).map(([, wrong]) => wrong);
}

/** Returns the problem of the ledger rows of a piece of work; null for the expected meters. */
export function wrongLedger(
  rows: readonly { meter: string }[],
  expected: 'billed' | 'unbilled' | 'none',
): string | null {
  const meters = rows.map(({ meter }) => (meter === 'unbilled' ? 'unbilled' : 'billed'));
  const wanted = expected === 'none' ? [] : [expected];
  return JSON.stringify(meters) === JSON.stringify(wanted)
    ? null
    : `its ledger rows are ${JSON.stringify(meters)} instead of ${JSON.stringify(wanted)}`;
}

/** Returns the problems of the times of one event's attempts, in seconds. A crash may repeat an attempt early. */
export function wrongSchedule(seconds: readonly number[], repeatsAllowed: number): string[] {
  const wrong: string[] = [];
  let early = 0;
  for (const [index, second] of seconds.entries()) {
    const before = seconds[index - 1];
    if (before === undefined) continue;
    const due = nextAttemptAt(index, new Date(before * 1000));
    if (due !== null && second * 1000 < due.getTime() - 1000) early += 1;
  }
  if (early > repeatsAllowed) wrong.push(`${early} attempts were sooner than scheduled`);
  if (seconds.length > 8 + repeatsAllowed) wrong.push(`it was sent ${seconds.length} times`);
  return wrong;
}
