import type { ProcessedFile } from '#worker-image/engine/process-file.ts';
import type { Cell } from '#test/matrix/cells.ts';

/** A result and what it came from, to be compared. */
export interface Look {
  readonly cell: Cell;
  readonly file: ProcessedFile;
  /** Path of the input. */
  readonly source: string;
  /** For files of whoever looks. */
  readonly directory: string;
}
