/** PostgreSQL: a pool of connections with the types, time limits and retries that every reader relies on. */
import { hash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Log } from '#crds/shared/log.ts';

export interface Queryable {
  /** `int8` and `numeric` come as numbers, `timestamptz` as Date, `date` as YYYY-MM-DD, `jsonb` parsed. */
  query<Row>(text: string, values?: readonly unknown[], how?: QueryHow): Promise<{ rows: Row[]; rowCount: number }>;
}

interface QueryHow {
  /**
   * Parsed and planned once per connection instead of each time: for what every request asks, found by the same
   * index whatever the values.
   */
  readonly prepared: true;
}

/** For `query`. */
export const PREPARED: QueryHow = { prepared: true };

export interface Database extends Queryable {
  /**
   * Runs the work in one transaction on one connection. After a deadlock or a serialisation failure it
   * runs again, so the work may do nothing that a rollback does not undo.
   */
  transaction<T>(work: (tx: Queryable) => Promise<T>, how?: TransactionHow): Promise<T>;
  /** Waits for the running queries and closes every connection. May be called twice. */
  close(): Promise<void>;
}

interface TransactionHow {
  /** Lifts the time limit of statements, for migrations. */
  readonly patient?: boolean;
  /**
   * The work sees what an earlier run of it has done: so it runs again when the connection was lost, which may have
   * been after its COMMIT had arrived.
   */
  readonly repeatable?: boolean;
}

interface DatabaseSettings {
  /** Also on a unix socket: `postgresql://user@%2Frun%2Fpg:5432/db` or `postgresql:///db?host=/run/pg`. */
  readonly url: string;
  readonly log: Log;
  readonly maxConnections: number;
}

const CONNECT_MS = 10_000;
const STATEMENT_MS = 30_000;
const IDLE_IN_TRANSACTION_MS = 30_000;
/** Above the server's own limit: frees the caller when the server no longer answers at all. */
const ANSWER_MS = 60_000;
const TRANSACTION_TRIES = 5;
/** Before another run of a repeatable transaction; doubled each time. */
const RECONNECT_MS = 25;
const SERIALIZATION_FAILURE = '40001';
const DEADLOCK = '40P01';

export function makeDatabase({ url, log, maxConnections }: DatabaseSettings): Database {
  const pool = new pg.Pool({
    ...connectionSettings(url),
    max: maxConnections,
    connectionTimeoutMillis: CONNECT_MS,
    statement_timeout: STATEMENT_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
  });
  // Without a listener the loss of an idle connection would end the process.
  // The pool hangs the whole connection onto the error: too much for a log.
  pool.on('error', ({ message }) => log.warn({ problem: message }, 'idle database connection lost'));
  let closing: Promise<void> | null = null;
  return {
    query: (text, values, how) => run(pool, { text, values, how, query_timeout: ANSWER_MS }),
    transaction: (work, how = {}) => withRetries((attempt) => inTransaction(pool, work, { ...how, attempt }), how),
    close: () => (closing ??= pool.end()),
  };
}

/** How every connection is made, inside the pool or beside it. */
export function connectionSettings(url: string): pg.ClientConfig {
  return { connectionString: url, application_name: 'mediajobs', keepAlive: true, types: { getTypeParser } };
}

type Parser = (text: string) => unknown;

const PARSERS: ReadonlyMap<number, Parser> = new Map<number, Parser>([
  [pg.types.builtins.INT8, safeInteger],
  [pg.types.builtins.NUMERIC, Number],
  [pg.types.builtins.DATE, String],
]);

function getTypeParser(oid: number, format?: 'text' | 'binary'): Parser {
  const own = format === 'binary' ? undefined : PARSERS.get(oid);
  return own ?? (pg.types.getTypeParser(oid, format ?? 'text') as Parser);
}

function safeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`${text} from the database is too large for a number`);
  return value;
}

interface Statement {
  readonly text: string;
  readonly values: readonly unknown[] | undefined;
  readonly how: QueryHow | undefined;
  readonly query_timeout?: number;
}

async function run<Row>(
  connection: pg.Pool | pg.PoolClient,
  { values, how, ...statement }: Statement,
): Promise<{ rows: Row[]; rowCount: number }> {
  const named = how === undefined ? statement : { ...statement, name: statementName(statement.text) };
  const query = values === undefined ? named : { ...named, values: [...values] };
  const answer: pg.QueryResult | pg.QueryResult[] = await connection.query(query);
  // A text of several statements, as in migrations, gives one result each.
  const last = Array.isArray(answer) ? answer.at(-1) : answer;
  return { rows: (last?.rows ?? []) as Row[], rowCount: last?.rowCount ?? 0 };
}

/** The same for the same text; PostgreSQL takes 63 characters. */
function statementName(text: string): string {
  return hash('sha256', text, 'hex').slice(0, 32);
}

/** One run of a transaction. */
interface Attempt {
  /** The connection does not work, or not yet: what became of the transaction is not known. */
  isLost: boolean;
}

async function withRetries<T>(
  transaction: (attempt: Attempt) => Promise<T>,
  { repeatable = false }: { repeatable?: boolean },
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    const attempt = { isLost: true };
    try {
      return await transaction(attempt);
    } catch (error) {
      const isLost = repeatable && attempt.isLost;
      if (tries === TRANSACTION_TRIES || !(isLost || isWorthRetrying(error))) throw error;
      if (isLost) await delay(RECONNECT_MS * 2 ** tries);
    }
  }
}

function isWorthRetrying(error: unknown): boolean {
  return error instanceof pg.DatabaseError && (error.code === SERIALIZATION_FAILURE || error.code === DEADLOCK);
}

async function inTransaction<T>(
  pool: pg.Pool,
  work: (tx: Queryable) => Promise<T>,
  { patient = false, attempt }: { patient?: boolean; attempt: Attempt },
): Promise<T> {
  const client = await pool.connect();
  attempt.isLost = false;
  // A checked-out connection reports its loss to the query in work and here; the query's error counts.
  const ignore = (): void => undefined;
  client.on('error', ignore);
  const limit = patient ? {} : { query_timeout: ANSWER_MS };
  try {
    await client.query('begin');
    if (patient) await client.query('set local statement_timeout = 0');
    const value = await work({ query: (text, values, how) => run(client, { text, values, how, ...limit }) });
    await client.query({ text: 'commit', ...limit });
    return value;
  } catch (error) {
    attempt.isLost = await client.query({ text: 'rollback', ...limit }).then(
      () => false,
      () => true,
    );
    throw error;
  } finally {
    client.off('error', ignore);
    client.release(attempt.isLost);
  }
}
