import type { RowBatch, TableRows } from '#worker-image/engine/table/row-batch.ts';
import { TextBuffer } from '#worker-image/engine/table/text-buffer.ts';

const PIECE_BYTES = 256 * 1024;

/** A format of text. An instance writes one table. */
export interface RowFormat {
  readonly start?: string;
  /** Appends a row of the batch. @param number - Position of the row in the table, from 0. */
  readonly writeRow: (out: TextBuffer, batch: RowBatch, row: number, number: number) => void;
  /** Returns the end of the file, after that many rows. */
  readonly end?: (rows: number) => string;
}

/** Yields the file in pieces of at least `PIECE_BYTES`, except for the last. Each is valid until the next but one. */
export async function* writeRows(batches: TableRows, format: RowFormat): AsyncGenerator<Uint8Array> {
  const out = new TextBuffer();
  out.appendText(format.start ?? '');
  let rows = 0;
  for await (const batch of batches) {
    for (let row = 0; row < batch.rows; row += 1) {
      format.writeRow(out, batch, row, rows);
      rows += 1;
      if (out.length >= PIECE_BYTES) yield out.take();
    }
  }
  out.appendText(format.end?.(rows) ?? '');
  yield out.take();
}
