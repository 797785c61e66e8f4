/** What the evaluation's PostgreSQL and bucket hold, seen from inside of their pods. */
import { RELEASE } from '#test/e2e/installation.ts';
import { kubectl } from '#test/e2e/commands.ts';

/** Returns the rows of a query, by the service's database user. */
export async function sql<Row>(query: string): Promise<readonly Row[]> {
  const rows = `select coalesce(json_agg(found), '[]') from (${query}) found`;
  const psql = `PGPASSWORD=$POSTGRES_PASSWORD psql -h 127.0.0.1 -U mediajobs -At -c "$1" mediajobs`;
  return JSON.parse(
    await kubectl('exec', `${RELEASE}-postgresql-0`, '--', 'sh', '-c', psql, 'sh', rows),
  ) as readonly Row[];
}

/** Returns the keys of all objects in the bucket, without parts of unfinished uploads. */
export async function objectKeys(): Promise<readonly string[]> {
  const list = 'cd /data/objects/mediajobs && find . -type f ! -path "./.*/*"';
  const found = await kubectl('exec', `${RELEASE}-s3-0`, '--', 'sh', '-c', list);
  return found.split('\n').filter((line) => line !== '');
}
