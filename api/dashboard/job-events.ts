import { setTimeout as delay } from 'node:timers/promises';
import { isUnfinished } from '#api/jobs/job.ts';
import { selectJobStates } from '#api/jobs/job-rows.ts';
import type { Queryable } from '#api/store/database.ts';

/** Interval of the polls, in milliseconds. */
const POLL_INTERVAL_MS = 1000;
/** Maximum number of polls per response; the browser then reconnects. */
const MAX_POLLS = 300;
/** Number of polls between two checks of the reader's access. */
const POLLS_PER_ACCESS_CHECK = 5;

interface FollowedJobs {
  readonly accountId: string;
  readonly ids: readonly string[];
  readonly signal: AbortSignal;
  /** Returns whether the session is active and its user may still read the account. */
  readonly mayRead: () => Promise<boolean>;
}

/**
 * Generates server-sent events: the current status and percent of each job, then every change. Ends when all jobs have
 * ended or the reader has lost access.
 */
export async function* jobEvents(
  { database }: { readonly database: Queryable },
  { accountId, ids, signal, mayRead }: FollowedJobs,
): AsyncGenerator<string> {
  const sent = new Map<string, string>();
  yield 'retry: 3000\n\n';
  for (let poll = 0; poll < MAX_POLLS && !signal.aborted; poll += 1) {
    if (poll % POLLS_PER_ACCESS_CHECK === POLLS_PER_ACCESS_CHECK - 1 && !(await mayRead())) return;
    const states = await selectJobStates(database, { accountId, ids });
    for (const state of states) {
      const text = JSON.stringify(state);
      if (sent.get(state.id) !== text) yield `data: ${text}\n\n`;
      sent.set(state.id, text);
    }
    if (!states.some(isUnfinished)) {
      yield 'event: end\ndata: {}\n\n';
      return;
    }
    await delay(POLL_INTERVAL_MS, undefined, { signal }).catch(() => undefined);
  }
}
