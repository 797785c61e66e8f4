import type { Database } from '#api/store/database.ts';
import { newestSchema } from '#api/store/migrate.ts';

const WITHOUT_TABLES = '42P01';

/**
 * Why the service cannot work with its database at this moment, with how to fix it; null when it can. A schema that
 * is newer than the code is no problem: it is that of the next version, which serves beside this one.
 */
export async function databaseProblem(database: Pick<Database, 'query'>): Promise<string | null> {
  const newest = await newestSchema();
  try {
    const { rows } = await database.query<{ version: number }>(
      'select coalesce(max(version), 0) as version from schema_migrations',
    );
    const version = rows[0]?.version ?? 0;
    return version >= newest ? null : behind(version, newest);
  } catch (error) {
    if ((error as { code?: string }).code === WITHOUT_TABLES) return behind(0, newest);
    const why = error instanceof Error ? error.message : String(error);
    return `PostgreSQL at DATABASE_URL does not answer (${why}); check that it runs and that the address is right.`;
  }
}

function behind(version: number, newest: number): string {
  return (
    `The database has schema version ${version} and this version of the service needs ${newest}: ` +
    'run node api/migrate.ts, as the migrate Job of the chart does.'
  );
}
