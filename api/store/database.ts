/** PostgreSQL connection pool with type parsers, timeouts and retries of transactions. */
import { hash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { connectionSettings } from '#api/store/connection-settings.ts';
import { backoffMs } from '#crds/process/backoff.ts';
import type { Log } from '#crds/process/log.ts';

/** Values are returned as numbers (`int8`, `numeric`), Date (`timestamptz`), YYYY-MM-DD (`date`) and parsed (`jsonb`). */
export interface Queryable {
  query<Row>(...statement: Statement): Promise<{ rows: Row[]; rowCount: number }>;
  selectRows<Row>(...statement: Statement): Promise<readonly Row[]>;
  /** Returns the first row; null when there is none. */
  findRow<Row>(...statement: Statement): Promise<Row | null>;
  /** Returns the number of rows that the statement changed. */
  countChanged(...statement: Statement): Promise<number>;
  /** Returns whether the statement changed exactly one row. */
  changesRow(...statement: Statement): Promise<boolean>;
}

type Statement = [text: string, values?: readonly unknown[], options?: QueryOptions];

interface QueryOptions {
  /**
   * Parses and plans the statement once per connection: for frequent statements whose plan does not depend on the
   * values.
   */
  readonly prepared: true;
}

/** Options of `query` for a prepared statement. */
export const PREPARED: QueryOptions = { prepared: true };

/**
 * Returns the SQL of an array parameter for `= any (…)` in a prepared statement. The subselect hides its length: a plan
 * for a short array seems cheaper than one for any array, so PostgreSQL would plan the statement at each execution.
 */
export function anyLength(parameter: `$${number}::${string}[]`): string {
  return `array (select unnest(${parameter}))`;
}

/** Statements of one transaction. They are sent at once, without waiting for the results of earlier ones. */
export interface Transaction extends Queryable {
  /**
   * Sends COMMIT behind the statements that were sent, so that it takes no round trip of its own. No statement may
   * follow. If one of them failed, the transaction is rolled back and rejects.
   */
  commitNow(): void;
}

export interface Database extends Queryable {
  /**
   * Runs the work in one transaction on one connection. The work runs again after a deadlock or a serialization
   * failure, so it must have no effects that a rollback does not undo.
   */
  transaction<T>(work: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** Runs the work on one connection without a transaction and without timeouts. */
  outsideTransaction<T>(work: (connection: Queryable) => Promise<T>): Promise<T>;
  /** Waits for running queries and closes every connection. May be called twice. */
  close(): Promise<void>;
}

interface TransactionOptions {
  /** Disables the statement timeout, for migrations. */
  readonly patient?: boolean;
  /**
   * The work is idempotent: it runs again when the connection was lost, possibly after the COMMIT of the earlier run
   * had been executed.
   */
  readonly repeatable?: boolean;
}

interface DatabaseSettings {
  /** URL, also of a unix socket: `postgresql://user@%2Frun%2Fpg:5432/db` or `postgresql:///db?host=/run/pg`. */
  readonly url: string;
  readonly log: Log;
  readonly maxConnections: number;
}

const CONNECT_MS = 10_000;
const STATEMENT_MS = 30_000;
const IDLE_IN_TRANSACTION_MS = 30_000;
/** Client-side query timeout, above the server's own: it only ends queries to a server that hangs. */
const QUERY_TIMEOUT_MS = 60_000;
const TRANSACTION_ATTEMPTS = 5;
/** Delay before a repeatable transaction runs again after a lost connection. */
const RECONNECT = { firstMs: 50, maxMs: 400 };
const SERIALIZATION_FAILURE = '40001';
const DEADLOCK = '40P01';

/** Returns a database with a pool of up to `maxConnections`; connects at the first query. */
export function makeDatabase({ url, log, maxConnections }: DatabaseSettings): Database {
  const pool = new pg.Pool({
    ...connectionSettings(url),
    max: maxConnections,
    pipeline: true,
    connectionTimeoutMillis: CONNECT_MS,
  });
  pool.on('connect', setTimeouts);
  // Without a listener, the loss of an idle connection would end the process.
  // The pool attaches the whole client to the error, so only the message is logged.
  pool.on('error', ({ message }) => log.warn({ problem: message }, 'idle database connection lost'));
  let closing: Promise<void> | null = null;
  return {
    ...queryable(pool, QUERY_TIMEOUT_MS),
    transaction: (work, options = {}) =>
      withRetries((attempt) => inTransaction(pool, work, { ...options, attempt }), options),
    outsideTransaction: (work) => outsideTransaction(pool, work),
    close: () => (closing ??= pool.end()),
  };
}

/** What sends statements: a pool, a client, or a client within a transaction. */
interface Connection {
  query(statement: pg.QueryConfig): Promise<pg.QueryResult | pg.QueryResult[]>;
}

function queryable(connection: Connection, timeoutMs: number | undefined): Queryable {
  const query = async <Row>(...[text, values, options]: Statement): Promise<{ rows: Row[]; rowCount: number }> => {
    const result: pg.QueryResult | pg.QueryResult[] = await connection.query({
      text,
      ...(values === undefined ? {} : { values: [...values] }),
      ...(options === undefined ? {} : { name: statementName(text) }),
      ...(timeoutMs === undefined ? {} : { query_timeout: timeoutMs }),
    });
    // A text of several statements, as in migrations, has one result for each.
    const last = Array.isArray(result) ? result.at(-1) : result;
    return { rows: (last?.rows ?? []) as Row[], rowCount: last?.rowCount ?? 0 };
  };
  const countChanged = async (...statement: Statement) => (await query(...statement)).rowCount;
  return {
    query,
    selectRows: async <Row>(...statement: Statement) => (await query<Row>(...statement)).rows,
    findRow: async <Row>(...statement: Statement) => (await query<Row>(...statement)).rows[0] ?? null,
    countChanged,
    changesRow: async (...statement) => (await countChanged(...statement)) === 1,
  };
}

/** Returns the name of a prepared statement, a hash of its text: PostgreSQL allows 63 characters. */
function statementName(text: string): string {
  return hash('sha256', text, 'hex').slice(0, 32);
}

/** State of one run of a transaction. */
interface Attempt {
  /** Whether the connection failed or is not established: then the outcome of the transaction is unknown. */
  isLost: boolean;
}

async function withRetries<T>(
  transaction: (attempt: Attempt) => Promise<T>,
  { repeatable = false }: { repeatable?: boolean },
): Promise<T> {
  for (let attempts = 1; ; attempts += 1) {
    const attempt = { isLost: true };
    try {
      return await transaction(attempt);
    } catch (error) {
      const isLost = repeatable && attempt.isLost;
      if (attempts === TRANSACTION_ATTEMPTS || !(isLost || isConflict(error))) throw error;
      if (isLost) await delay(backoffMs(RECONNECT, attempts - 1));
    }
  }
}

/** Sends the timeouts before the first statement. As startup parameters, connection poolers such as PgBouncer refuse them. */
function setTimeouts(client: pg.ClientBase): void {
  const settings = `set statement_timeout = ${STATEMENT_MS}; set idle_in_transaction_session_timeout = ${IDLE_IN_TRANSACTION_MS}`;
  // A connection that is lost rejects the statement behind this one too.
  client.query(settings).catch(() => undefined);
}

function isConflict(error: unknown): boolean {
  return error instanceof pg.DatabaseError && (error.code === SERIALIZATION_FAILURE || error.code === DEADLOCK);
}

async function outsideTransaction<T>(pool: pg.Pool, work: (connection: Queryable) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query('set statement_timeout = 0');
    return await work(queryable(client, undefined));
  } finally {
    // The connection is closed, with its settings.
    client.release(true);
  }
}

async function inTransaction<T>(
  pool: pg.Pool,
  work: (tx: Transaction) => Promise<T>,
  { patient = false, attempt }: { patient?: boolean; attempt: Attempt },
): Promise<T> {
  const client = await pool.connect();
  attempt.isLost = false;
  // A lost connection is reported to the running query and as this event. The query's error is the one thrown.
  const ignore = (): void => undefined;
  client.on('error', ignore);
  const timeout: { query_timeout?: number } = patient ? {} : { query_timeout: QUERY_TIMEOUT_MS };
  const send = (text: string): Promise<pg.QueryResult> => {
    const sent = client.query({ text, ...timeout });
    sent.catch(ignore);
    return sent;
  };
  let isRolledBack = false;
  // Statements that are sent together go on when one has failed: none may be executed outside of the transaction.
  const connection: Connection = {
    query: async (statement) => {
      if (isRolledBack) throw new Error('the transaction was rolled back before this statement');
      return client.query(statement);
    },
  };
  let committed: Promise<pg.QueryResult> | null = null;
  const commitNow = (): void => void (committed ??= send('commit'));
  try {
    const begun = send('begin');
    if (patient) await send('set local statement_timeout = 0');
    const value = await work({ ...queryable(connection, timeout.query_timeout), commitNow });
    await begun;
    const { command } = await (committed ?? send('commit'));
    if (command !== 'COMMIT') throw new Error('the transaction was rolled back, because a statement had failed');
    return value;
  } catch (error) {
    isRolledBack = true;
    attempt.isLost = await client.query({ text: 'rollback', ...timeout }).then(
      () => false,
      () => true,
    );
    throw error;
  } finally {
    client.off('error', ignore);
    client.release(attempt.isLost);
  }
}
