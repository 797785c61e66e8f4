import type { Database } from '#api/store/database.ts';
import { newestSchema } from '#api/store/migrate.ts';

/** SQLSTATE undefined_table. */
const UNDEFINED_TABLE = '42P01';

/**
 * Returns why the database is not usable now and how to fix it; null when it is. A schema newer than the code is
 * accepted, because the next version runs beside this one during an upgrade.
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
    if ((error as { code?: string }).code === UNDEFINED_TABLE) return behind(0, newest);
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
