import type { ProcessedFile } from '#worker-image/engine/process-file.ts';
import type { Cell } from '#test/matrix/cells.ts';

/** A result with its input. */
export interface Comparison {
  readonly cell: Cell;
  readonly file: ProcessedFile;
  /** Path of the input. */
  readonly source: string;
  /** Directory for files of the comparison. */
  readonly directory: string;
}
