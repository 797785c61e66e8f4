/** A table is its rows, read one after the other; the first one names the columns. Every cell is text. */
import { MediaError } from '#crds/media-error.ts';

export type Row = readonly string[];
export type Rows = AsyncIterable<Row>;

/** Opens the table's text from its start; called once per pass over the file. */
export type OpenText = () => AsyncIterable<string>;

/** Takes what the caller should know of a table that is read nevertheless; may be told the same twice. */
export type Warn = (warning: string) => void;

/** Excel's width, and far more than any table that people read. */
export const MAX_COLUMNS = 16_384;
/** One row with its cells, in characters. */
export const MAX_ROW_CHARS = 16 * 1024 ** 2;

/** The file is not a table of its format. Spec: Errors, processing_failed, "unparseable table". */
export function unparseable(format: string, what: string, cause?: unknown): MediaError {
  return new MediaError('processing_failed', `The ${format} table could not be read: ${what}.`, { cause });
}

/** Says so when a file holds more tables than the one that is read. */
export function warnOfOthers(tables: number, warn: Warn): void {
  if (tables > 1) warn(`The file holds ${tables} tables: the first was read.`);
}

/** @throws MediaError limit_exceeded for a row that is too wide. */
export function refuseWide(row: Row): Row {
  refuseColumns(row.length);
  return row;
}

/** @throws MediaError limit_exceeded for too many columns. */
export function refuseColumns(columns: number): void {
  if (columns <= MAX_COLUMNS) return;
  throw new MediaError(
    'limit_exceeded',
    `A row of the table has ${columns} columns; at most ${MAX_COLUMNS} are read. Split the table.`,
  );
}

/** @throws MediaError limit_exceeded for a row that is too long. */
export function refuseLong(chars: number): void {
  if (chars <= MAX_ROW_CHARS) return;
  throw new MediaError(
    'limit_exceeded',
    `A row of the table has more than ${MAX_ROW_CHARS} characters. Split the table.`,
  );
}
