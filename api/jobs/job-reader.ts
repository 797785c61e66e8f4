import { setImmediate as endOfIteration } from 'node:timers/promises';
import type { Job } from '#api/jobs/job.ts';
import { findJobs } from '#api/jobs/job-rows.ts';
import type { Queryable } from '#api/store/database.ts';

/** Returns a job of any account as it is now; null when there is none. */
export type ReadJob = (id: string) => Promise<Job | null>;

/** Rows that one query reads. */
interface Batch {
  readonly ids: Set<string>;
  readonly rows: Promise<ReadonlyMap<string, Job>>;
}

/** Makes a reader: jobs that are asked for in one iteration of the event loop are read by one query, which is sent after it. */
export function makeJobReader(database: Queryable): ReadJob {
  let open: Batch | null = null;
  const openBatch = (): Batch => {
    const ids = new Set<string>();
    const rows = endOfIteration().then(() => {
      open = null;
      return findJobs(database, [...ids]);
    });
    return { ids, rows };
  };
  return async (id) => {
    const batch = (open ??= openBatch());
    batch.ids.add(id);
    return (await batch.rows).get(id) ?? null;
  };
}
