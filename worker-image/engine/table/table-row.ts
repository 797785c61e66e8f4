/** A table is a sequence of rows; the first row has the column names. Every cell is text. */
import { MediaError } from '#crds/contract/media-error.ts';

export type TableRow = readonly string[];
/** Rows of a reader that decodes text; `packRows` collects them in batches. */
export type TextRows = AsyncIterable<TableRow>;

/** Opens the text of the table at its start; called once per pass over the file. */
export type OpenText = () => AsyncIterable<string>;

/** Receives warnings for the caller; may receive the same one twice. */
export type Warn = (warning: string) => void;

/** Maximum number of columns, the same as in Excel. */
export const MAX_COLUMNS = 16_384;
/** Maximum length of a row, in characters. */
export const MAX_ROW_CHARS = 16 * 1024 ** 2;

/** Returns the error for a file that is not a table of its format (docs/reference/errors.md#processing_failed). */
export function unparseable(format: string, what: string, cause?: unknown): MediaError {
  return new MediaError('processing_failed', `The ${format} table could not be read: ${what}.`, { cause });
}

/** Warns when a file has more tables than the one that is read. */
export function warnOfOtherTables(tables: number, warn: Warn): void {
  if (tables > 1) warn(`The file has ${tables} tables: the first was read.`);
}

/** Returns the row. @throws MediaError limit_exceeded for more than `MAX_COLUMNS` columns. */
export function refuseWide(row: TableRow): TableRow {
  refuseColumns(row.length);
  return row;
}

/** Refuses too many columns. @throws MediaError limit_exceeded. */
export function refuseColumns(columns: number): void {
  if (columns <= MAX_COLUMNS) return;
  throw new MediaError(
    'limit_exceeded',
    `A row of the table has ${columns} columns; at most ${MAX_COLUMNS} are read. Split the table.`,
  );
}

/** Refuses a row that is too long. @throws MediaError limit_exceeded. */
export function refuseLong(chars: number): void {
  if (chars <= MAX_ROW_CHARS) return;
  throw new MediaError(
    'limit_exceeded',
    `A row of the table has more than ${MAX_ROW_CHARS} characters. Split the table.`,
  );
}
