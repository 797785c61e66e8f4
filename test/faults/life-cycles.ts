/**
 * The life cycles as pure functions: what a job, an upload, a delivery and the ledger may look like, whatever happened
 * to the processes. The checks ask them about rows, the commands of the model about answers.
 *
 *   job        queued → processing → succeeded | failed | canceled; unfinished → canceled | failed at any time
 *   upload     created → uploaded → used by one job → gone; unused: gone after 24 hours
 *   delivery   queued → attempt 1 … 8 → delivered | dropped; the n-th attempt no sooner than the schedule says
 *   ledger     one row per finished job and per direct request that was worked on; billed only if live, succeeded and
 *              not kept
 */
import { nextAttemptAt } from '#api/webhooks/schedule.ts';

export type JobStatus = 'queued' | 'processing' | 'succeeded' | 'failed' | 'canceled';

const NEXT: Readonly<Record<JobStatus, readonly JobStatus[]>> = {
  queued: ['queued', 'processing', 'succeeded', 'failed', 'canceled'],
  processing: ['processing', 'succeeded', 'failed', 'canceled'],
  succeeded: ['succeeded'],
  failed: ['failed'],
  canceled: ['canceled'],
};

/** May a reader see the one status after the other? */
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

/** What is wrong with a job that has ended; empty when nothing is. `times`: created, started, completed. */
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

/** Meters of the ledger rows that a piece of work must have. */
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

/** Seconds of the attempts of one event, in order: what is wrong with them. A crash may repeat an attempt early. */
export function wrongSchedule(seconds: readonly number[], repeatsAllowed: number): string[] {
  const wrong: string[] = [];
  let early = 0;
  for (const [index, second] of seconds.entries()) {
    const before = seconds[index - 1];
    if (before === undefined) continue;
    const due = nextAttemptAt(index, new Date(before * 1000));
    if (due !== null && second * 1000 < due.getTime() - 1000) early += 1;
  }
  if (early > repeatsAllowed) wrong.push(`${early} attempts came sooner than the schedule says`);
  if (seconds.length > 8 + repeatsAllowed) wrong.push(`it was sent ${seconds.length} times`);
  return wrong;
}
