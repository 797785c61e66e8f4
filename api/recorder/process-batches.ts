import type { Dependencies } from '#api/dependencies.ts';
import { databaseProblem } from '#api/store/database-problem.ts';

type HandleDeps = Pick<Dependencies, 'database' | 'log'>;

interface BatchProcessing<Row> {
  /** Number of rows that are selected together. */
  readonly batch: number;
  /** Returns the first `limit` rows that are still to be handled. */
  readonly select: (limit: number) => Promise<readonly Row[]>;
  readonly handle: (row: Row) => Promise<void>;
  /** Returns what identifies a row, as fields of the log. */
  readonly fieldsOf: (row: Row) => Readonly<Record<string, string>>;
}

/**
 * Handles all rows, batch by batch. A row whose handling fails is logged and left for the next call, so that it delays
 * no other.
 * @throws the error of `select`, and that of a row when the database is unavailable, because all others would fail too.
 */
export async function processBatches<Row>(deps: HandleDeps, handling: BatchProcessing<Row>): Promise<void> {
  const handled = new Set<string>();
  let left = 0;
  for (;;) {
    // Rows that are left come first again: as many more are selected.
    const limit = handling.batch + left;
    const rows = await handling.select(limit);
    left = 0;
    for (const row of rows) {
      const key = JSON.stringify(handling.fieldsOf(row));
      const isLeft = handled.has(key) || !(await succeeds(deps, handling, row));
      handled.add(key);
      if (isLeft) left += 1;
    }
    if (rows.length < limit) return;
  }
}

async function succeeds<Row>(
  { database, log }: HandleDeps,
  { handle, fieldsOf }: BatchProcessing<Row>,
  row: Row,
): Promise<boolean> {
  try {
    await handle(row);
    return true;
  } catch (error) {
    if ((await databaseProblem(database)) !== null) throw error;
    log.error({ ...fieldsOf(row), err: error }, 'cannot process a row; continuing with the others');
    return false;
  }
}
