import { setTimeout as delay } from 'node:timers/promises';
import { isUnfinished } from '#api/jobs/job.ts';
import { selectJobStates } from '#api/jobs/job-state-rows.ts';
import type { Queryable } from '#api/store/database.ts';

const EVERY_MS = 1000;
/** Then the browser asks anew, and its session is looked at again. */
const ROUNDS = 300;

/** Server-sent events: each change of the jobs' status or percent, from what they are now on. Ends when all have ended. */
export async function* jobEvents(
  { database }: { readonly database: Queryable },
  { accountId, ids, signal }: { accountId: string; ids: readonly string[]; signal: AbortSignal },
): AsyncGenerator<string> {
  const told = new Map<string, string>();
  yield 'retry: 3000\n\n';
  for (let round = 0; round < ROUNDS && !signal.aborted; round += 1) {
    const states = await selectJobStates(database, { accountId, ids });
    for (const state of states) {
      const text = JSON.stringify(state);
      if (told.get(state.id) !== text) yield `data: ${text}\n\n`;
      told.set(state.id, text);
    }
    if (!states.some(isUnfinished)) {
      yield 'event: end\ndata: {}\n\n';
      return;
    }
    await delay(EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
}
