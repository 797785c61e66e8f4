import { describe, expect, it } from 'vitest';
import { makeJobReader } from '#api/jobs/job-reader.ts';
import type { Queryable } from '#api/store/database.ts';
import { testDatabase } from '#test/support/database.ts';
import { buildAccount, buildJob } from '#test/support/job-builder.ts';

const database = await testDatabase();

/** Returns the database, with the number of queries that it got. */
function counted(): { counting: Queryable; queries: () => number } {
  let queries = 0;
  const selectRows: Queryable['selectRows'] = (...statement) => {
    queries += 1;
    return database.selectRows(...statement);
  };
  return { counting: { ...database, selectRows }, queries: () => queries };
}

describe('makeJobReader', () => {
  it('reads the jobs of one iteration by one query', async () => {
    const { id: account } = await buildAccount(database);
    const jobs = [await buildJob(database, account), await buildJob(database, account)];
    const { counting, queries } = counted();
    const readJob = makeJobReader(counting);
    const ids = [...jobs.map(({ id }) => id), 'job_unknown', jobs[0]?.id ?? ''];
    const found = await Promise.all(ids.map((id) => readJob(id)));
    expect(found.map((job) => job?.id ?? null)).toEqual([jobs[0]?.id, jobs[1]?.id, null, jobs[0]?.id]);
    expect(queries()).toBe(1);
  });

  it('reads a job again when it is asked for later', async () => {
    const { id } = await buildJob(database, (await buildAccount(database)).id);
    const readJob = makeJobReader(database);
    expect(await readJob(id)).toMatchObject({ percent: 0 });
    await database.query('update jobs set percent = 7 where id = $1', [id]);
    expect(await readJob(id)).toMatchObject({ percent: 7 });
  });

  it('throws a failure of the database to all that asked, and reads again afterwards', async () => {
    let isBroken = true;
    const failing: Queryable = {
      ...database,
      selectRows: (...statement) =>
        isBroken ? Promise.reject(new Error('connection lost')) : database.selectRows(...statement),
    };
    const readJob = makeJobReader(failing);
    const reads = await Promise.allSettled([readJob('job_a'), readJob('job_b')]);
    expect(reads.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    isBroken = false;
    expect(await readJob('job_a')).toBeNull();
  });
});
