/**
 * Migrates the database to this version's schema: forward only, one transaction per migration. An advisory lock
 * serializes concurrent processes, so each migration runs exactly once.
 *
 * Comments at the beginning of a file change how it runs:
 *
 *   -- outside a transaction     its statements run one by one, for CREATE INDEX CONCURRENTLY. Each is idempotent, because
 *                                it runs again when a later one fails
 *   -- needs code of schema N    older code does not work on the new schema; without it, all older code does
 */
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import type { Database, Queryable } from '#api/store/database.ts';
import type { Clock } from '#crds/process/clock.ts';
import type { Log } from '#crds/process/log.ts';

interface MigrateDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly log?: Pick<Log, 'info' | 'warn'>;
}

interface MigrateOptions {
  readonly folder?: string;
  /** Time for which a statement waits for the lock of a table, in milliseconds. */
  readonly lockTimeoutMs?: number;
}

interface Migration {
  readonly version: number;
  /** File name: `0001-start.sql`. */
  readonly name: string;
  readonly sql: string;
  readonly isOutsideTransaction: boolean;
  /** Schema version of the oldest code that works on the new schema; null: all older code does. */
  readonly oldestCode: number | null;
}

export const MIGRATIONS_FOLDER = fileURLToPath(new URL('migrations', import.meta.url));

/** Error of a database whose schema this version of the code is too old for. */
export class SchemaTooNew extends Error {
  override readonly name = 'SchemaTooNew';
}

/** Key of the advisory lock: an arbitrary number that no other program on the same database uses. */
const LOCK = 5_604_119_020;
/** Key of the lock of a connection that runs statements outside a transaction. */
const SESSION_LOCK = 5_604_119_021;
const SESSION_LOCK_POLL_MS = 500;
/**
 * A statement that waits for the lock of a table lets all later queries of the table wait behind it. So it gives up soon
 * and tries again.
 */
const LOCK_TIMEOUT_MS = 3000;
const LOCK_ATTEMPTS = 100;
const LOCK_RETRY_MS = 2000;
/** SQLSTATE lock_not_available. */
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Runs the missing migrations. Returns the names of those that this call ran.
 * @throws SchemaTooNew when the code is too old for the schema.
 */
export async function migrate(
  { database, clock, log }: MigrateDeps,
  { folder = MIGRATIONS_FOLDER, lockTimeoutMs = LOCK_TIMEOUT_MS }: MigrateOptions = {},
): Promise<string[]> {
  const migrations = await readMigrations(folder);
  const ran: string[] = [];
  for (;;) {
    const next = await nextOf(database, migrations, log);
    if (next === null) return ran;
    const isFirst = await withLockRetries(log, () => runMigration(database, next, { now: clock.now(), lockTimeoutMs }));
    if (isFirst) ran.push(next.name);
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
      const sql = await readFile(`${folder}/${name}`, 'utf8');
      const oldestCode = /^-- needs code of schema (\d+)$/m.exec(sql)?.[1];
      return {
        version,
        name,
        sql,
        isOutsideTransaction: /^-- outside a transaction$/m.test(sql),
        oldestCode: oldestCode === undefined ? null : Number(oldestCode),
      };
    }),
  );
}

/** Returns the first migration that is missing; null when none is. @throws SchemaTooNew */
async function nextOf(
  database: Database,
  migrations: readonly Migration[],
  log: MigrateDeps['log'],
): Promise<Migration | null> {
  const { version, oldestCode } = await database.transaction(async (tx) => {
    await tx.query('select pg_advisory_xact_lock($1)', [LOCK]);
    await createTable(tx);
    return currentSchema(tx);
  });
  const newest = migrations.at(-1)?.version ?? 0;
  if (oldestCode > newest) {
    throw new SchemaTooNew(
      `The database has schema version ${version}, which needs a version of mediajobs that knows ${oldestCode} at ` +
        `least, but this one knows ${newest}. Start the newer version of mediajobs, or restore the backup made before ` +
        'its upgrade.',
    );
  }
  if (version > newest)
    log?.info({ schema: version, known: newest }, 'the schema is newer, and this version works on it');
  return migrations.find((migration) => migration.version === version + 1) ?? null;
}

/** Runs a migration. Returns false when another process was first. */
async function runMigration(
  database: Database,
  migration: Migration,
  { now, lockTimeoutMs }: { now: Date; lockTimeoutMs: number },
): Promise<boolean> {
  const { version, name, sql, isOutsideTransaction, oldestCode } = migration;
  if (isOutsideTransaction) {
    const statements = sql.split(/;\s*$/m).filter((statement) => /^[^-\s]/m.test(statement));
    await database.outsideTransaction(async (connection) => {
      await acquireSessionLock(connection);
      if ((await currentSchema(connection)).version >= version) return;
      for (const statement of statements) await connection.query(statement);
    });
  }
  return database.transaction(
    async (tx) => {
      await tx.query('select pg_advisory_xact_lock($1)', [LOCK]);
      if ((await currentSchema(tx)).version >= version) return false;
      await tx.query(`set local lock_timeout = ${lockTimeoutMs}`);
      if (!isOutsideTransaction) await tx.query(sql);
      await tx.query('insert into schema_migrations (version, name, applied_at, oldest_code) values ($1, $2, $3, $4)', [
        version,
        name,
        now,
        oldestCode,
      ]);
      return true;
    },
    { patient: true },
  );
}

/**
 * Acquires the lock of the connection. It polls: a statement that waited would hold a snapshot, for which CREATE INDEX
 * CONCURRENTLY in the other process would wait.
 */
async function acquireSessionLock(connection: Queryable): Promise<void> {
  const isAcquired = async (): Promise<boolean> =>
    (await connection.findRow<{ acquired: boolean }>('select pg_try_advisory_lock($1) as acquired', [SESSION_LOCK]))
      ?.acquired === true;
  while (!(await isAcquired())) await delay(SESSION_LOCK_POLL_MS);
}

/** Creates the table of migrations, or adds the columns that it lacks in databases of earlier versions. */
async function createTable(tx: Queryable): Promise<void> {
  const { rows } = await tx.query<{ complete: boolean }>(
    `select exists (select from pg_attribute where attrelid = to_regclass('schema_migrations')
       and attname = 'oldest_code') as complete`,
  );
  if (rows[0]?.complete === true) return;
  await tx.query(
    `create table if not exists schema_migrations
       (version integer primary key, name text not null, applied_at timestamptz not null)`,
  );
  await tx.query('alter table schema_migrations add column if not exists oldest_code integer');
}

async function currentSchema(tx: Queryable): Promise<{ version: number; oldestCode: number }> {
  const { rows } = await tx.query<{ version: number; oldestCode: number }>(
    'select coalesce(max(version), 0) as version, coalesce(max(oldest_code), 0) as "oldestCode" from schema_migrations',
  );
  return rows[0] ?? { version: 0, oldestCode: 0 };
}

async function withLockRetries<T>(log: MigrateDeps['log'], run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run();
    } catch (error) {
      if (attempt === LOCK_ATTEMPTS || !isLockTimeout(error)) throw error;
      log?.warn({ attempt, retry_in_ms: LOCK_RETRY_MS }, 'a table is locked, the migration is tried again');
      await delay(LOCK_RETRY_MS);
    }
  }
}

function isLockTimeout(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === LOCK_NOT_AVAILABLE;
}
