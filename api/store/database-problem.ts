import type { Database } from '#api/store/database.ts';
import { newestSchema } from '#api/store/migrate.ts';

/** SQLSTATE undefined_table. */
const UNDEFINED_TABLE = '42P01';

/**
 * Returns why the database is not usable now and how to fix it; null when it is. A newer schema is accepted unless a
 * migration says that this code is too old for it: the next version runs beside this one during an upgrade.
 */
export async function databaseProblem(database: Pick<Database, 'query'>): Promise<string | null> {
  const newest = await newestSchema();
  try {
    // Databases of earlier versions have no column oldest_code.
    const { rows } = await database.query<{ version: number; oldestCode: number }>(
      `select coalesce(max(version), 0) as version,
         coalesce(max((to_jsonb(schema_migrations) ->> 'oldest_code')::int), 0) as "oldestCode"
       from schema_migrations`,
    );
    const { version, oldestCode } = rows[0] ?? { version: 0, oldestCode: 0 };
    if (oldestCode > newest) return ahead(version, newest);
    return version >= newest ? null : behind(version, newest);
  } catch (error) {
    if ((error as { code?: string }).code === UNDEFINED_TABLE) return behind(0, newest);
    const why = error instanceof Error ? error.message : String(error);
    return `PostgreSQL at DATABASE_URL does not answer (${why}); check that it runs and that the address is right.`;
  }
}

function ahead(version: number, newest: number): string {
  return (
    `The database has schema version ${version}, and this version of the service, which knows ${newest}, does not work ` +
    'on it: start the newer version.'
  );
}

function behind(version: number, newest: number): string {
  return (
    `The database has schema version ${version} and this version of the service needs ${newest}: ` +
    'run node api/migrate.ts, as the migrate Job of the chart does.'
  );
}
