/**
 * Migrates the database to this version's schema: forward only, one transaction per migration. An advisory lock
 * serializes concurrent processes, so each migration runs exactly once.
 */
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Database, Queryable } from '#api/store/database.ts';
import type { Clock } from '#crds/process/clock.ts';

interface MigrateDeps {
  readonly database: Database;
  readonly clock: Clock;
}

interface Migration {
  readonly version: number;
  /** File name: `0001-start.sql`. */
  readonly name: string;
  readonly sql: string;
}

export const MIGRATIONS_FOLDER = fileURLToPath(new URL('migrations', import.meta.url));

/** Error of a database that has migrations unknown to this version of the code. */
export class SchemaTooNew extends Error {
  override readonly name = 'SchemaTooNew';
}

/** Key of the advisory lock: an arbitrary number that no other program on the same database uses. */
const LOCK = 5_604_119_020;

/**
 * Runs the missing migrations. Returns the names of those that this call ran.
 * @throws SchemaTooNew when the schema is newer than the code.
 */
export async function migrate(
  { database, clock }: MigrateDeps,
  { folder = MIGRATIONS_FOLDER }: { folder?: string } = {},
): Promise<string[]> {
  const migrations = await readMigrations(folder);
  const ran: string[] = [];
  for (;;) {
    const next = await database.transaction((tx) => runNext(tx, migrations, clock.now()), { patient: true });
    if (next === null) return ran;
    ran.push(next.name);
  }
}

/** Returns the schema version of this code. */
export async function newestSchema(): Promise<number> {
  return (await migrationNames(MIGRATIONS_FOLDER)).length;
}

async function migrationNames(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => /^\d{4}-[a-z0-9-]+\.sql$/.test(name)).toSorted();
}

async function readMigrations(folder: string): Promise<Migration[]> {
  return Promise.all(
    (await migrationNames(folder)).map(async (name, index) => {
      const version = Number(name.slice(0, 4));
      if (version !== index + 1)
        throw new Error(`Migration ${name} is out of sequence: number ${index + 1} is expected.`);
      return { version, name, sql: await readFile(`${folder}/${name}`, 'utf8') };
    }),
  );
}

async function runNext(tx: Queryable, migrations: readonly Migration[], now: Date): Promise<Migration | null> {
  await tx.query('select pg_advisory_xact_lock($1)', [LOCK]);
  const version = await currentVersion(tx);
  const newest = migrations.at(-1)?.version ?? 0;
  if (version > newest) {
    throw new SchemaTooNew(
      `The database has schema version ${version}, but this version of mediajobs knows ${newest} at most. ` +
        'Start the newer version of mediajobs, or restore the backup made before its upgrade.',
    );
  }
  const next = migrations.find((migration) => migration.version === version + 1);
  if (next === undefined) return null;
  await tx.query(next.sql);
  await tx.query('insert into schema_migrations (version, name, applied_at) values ($1, $2, $3)', [
    next.version,
    next.name,
    now,
  ]);
  return next;
}

async function currentVersion(tx: Queryable): Promise<number> {
  const { rows: tables } = await tx.query<{ there: boolean }>(
    `select to_regclass('schema_migrations') is not null as there`,
  );
  if (tables[0]?.there !== true) {
    await tx.query(
      'create table schema_migrations (version integer primary key, name text not null, applied_at timestamptz not null)',
    );
  }
  const { rows } = await tx.query<{ version: number }>(
    'select coalesce(max(version), 0) as version from schema_migrations',
  );
  return rows[0]?.version ?? 0;
}
