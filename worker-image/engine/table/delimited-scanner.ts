/**
 * Scans the rows of CSV or TSV in UTF-8, byte by byte. A row ends with CRLF, LF or CR.
 *
 * A cell that begins with a quote ends at the next quote that is not doubled. When text follows that quote, both quotes
 * are part of the cell, except before NUL. Quotes elsewhere are text.
 *
 * Many programs write TSV without quoting. With `allowsStrayQuotes`, a first quote is text when it is not closed, and
 * when other text follows the closing quote and a delimiter or line end precedes it. The time stays linear: such a quote
 * is searched once, up to the next one, as those between are doubled and so begin and end a cell at once.
 */
import { RowBatch } from '#worker-image/engine/table/row-batch.ts';
import { MAX_COLUMNS, MAX_ROW_CHARS, refuseColumns, refuseLong } from '#worker-image/engine/table/table-row.ts';

const QUOTE = 0x22;
const LINE_FEED = 0x0a;
const RETURN = 0x0d;

/**
 * Length at which an incomplete row certainly has too many characters, in bytes: a character has up to three bytes, and
 * a quote of the text is two quotes in the file.
 */
const MAX_INCOMPLETE_BYTES = 4 * MAX_ROW_CHARS;

interface Dialect {
  readonly delimiter: string;
  /** True when an empty line is a row with one empty cell. */
  readonly keepsEmptyLines: boolean;
  /** True when a quote at the start of a cell may be text. */
  readonly allowsStrayQuotes: boolean;
}

/** A quoted cell with doubled quotes, or with text behind its closing quote. All but the first are offsets. */
interface OddCell {
  readonly cell: number;
  readonly open: number;
  readonly close: number;
  readonly end: number;
}

export class DelimitedScanner {
  readonly #delimiter: number;
  readonly #keepsEmptyLines: boolean;
  readonly #allowsStrayQuotes: boolean;
  /** Indexed by byte: 1 for those that end a cell. */
  readonly #stops = new Uint8Array(256);
  readonly #batch = new RowBatch();
  #bytes = this.#batch.bytes;
  #length = 0;
  /** Offset of the first row that is not in a batch. */
  #at = 0;
  /** Length at which an incomplete row is scanned again. It doubles, so that the time stays linear. */
  #scanAt = 0;
  /** True when no bytes follow. */
  #isEnded = false;
  /** True when the last call of `#closingQuote` found doubled quotes. */
  #isDoubled = false;
  /** Cells of the current row. They are rewritten when it is complete, as an incomplete row is scanned again. */
  readonly #oddCells: OddCell[] = [];

  constructor({ delimiter, keepsEmptyLines, allowsStrayQuotes }: Dialect) {
    this.#delimiter = delimiter.charCodeAt(0);
    this.#keepsEmptyLines = keepsEmptyLines;
    this.#allowsStrayQuotes = allowsStrayQuotes;
    for (const byte of [this.#delimiter, LINE_FEED, RETURN]) this.#stops[byte] = 1;
  }

  /** Yields the rows that the bytes complete. @throws MediaError limit_exceeded for a row that is too long or wide. */
  *write(bytes: Uint8Array): Generator<RowBatch> {
    this.#append(bytes);
    if (this.#length < this.#scanAt) return;
    yield* this.#completeRows();
    if (this.#length > MAX_INCOMPLETE_BYTES) refuseLong(this.#length);
    this.#scanAt = Math.min(2 * this.#length, MAX_INCOMPLETE_BYTES);
  }

  /** Yields the last rows. Returns whether every quote is closed. @throws as `write`. */
  *end(): Generator<RowBatch, boolean> {
    yield* this.#completeRows();
    if (this.#length === 0) return true;
    this.#isEnded = true;
    // An open quote may precede the last line end.
    if (this.#bytes[this.#length - 1] !== LINE_FEED) this.#append(Uint8Array.of(LINE_FEED));
    yield* this.#completeRows();
    if (this.#length > MAX_ROW_CHARS) refuseLong(this.#bytes.toString('utf8', 0, this.#length).length - 1);
    return this.#length === 0;
  }

  #append(bytes: Uint8Array): void {
    const length = this.#length + bytes.length;
    if (length > this.#bytes.length) {
      const grown = Buffer.allocUnsafe(2 * length);
      this.#bytes.copy(grown, 0, 0, this.#length);
      this.#bytes = grown;
    }
    this.#bytes.set(bytes, this.#length);
    this.#length = length;
  }

  *#completeRows(): Generator<RowBatch> {
    this.#batch.bytes = this.#bytes;
    for (let isFull = true; isFull;) {
      isFull = this.#fillBatch();
      if (this.#batch.rows > 0) yield this.#batch;
      this.#batch.clear();
    }
    this.#bytes.copyWithin(0, this.#at, this.#length);
    this.#length -= this.#at;
    this.#at = 0;
  }

  /** Adds complete rows to the batch. Returns false when there are no more. */
  #fillBatch(): boolean {
    while (!this.#batch.isFull) {
      const from = this.#at;
      const isSkipped = !this.#keepsEmptyLines && this.#isLineEnd(from);
      const next = isSkipped ? this.#afterLineEnd(from) : this.#scanRow(from);
      if (next === -1) return false;
      if (!isSkipped) this.#endRow(next - from);
      this.#at = next;
    }
    return true;
  }

  /** Adds the cells of a row to the batch. Returns the offset behind the row, or -1 when it is not complete. */
  #scanRow(from: number): number {
    this.#oddCells.length = 0;
    this.#batch.dropRow();
    for (let at = from; ;) {
      const end = this.#bytes[at] === QUOTE ? this.#scanQuotedCell(at) : this.#scanCell(at);
      if (end === -1) {
        if (this.#length - from > MAX_ROW_CHARS) refuseColumns(this.#batch.columns);
        return -1;
      }
      if (this.#bytes[end] !== this.#delimiter) return this.#afterLineEnd(end);
      at = end + 1;
    }
  }

  /** Adds a cell to the row. Returns the offset of the byte that ends it, or -1 when that is missing. */
  #scanCell(start: number): number {
    const end = this.#cellEnd(start);
    if (end !== -1) this.#batch.addCell(start, end);
    return end;
  }

  #scanQuotedCell(open: number): number {
    const close = this.#closingQuote(open);
    if (this.#isStray(open, close)) return this.#scanCell(open);
    const end = close === -1 ? -1 : this.#cellEnd(close + 1);
    if (end === -1) return -1;
    const cell = this.#batch.addCell(open + 1, close);
    const isOdd = this.#isDoubled || end > close + 1;
    if (isOdd && this.#batch.columns <= MAX_COLUMNS) this.#oddCells.push({ cell, open, close, end });
    return end;
  }

  /** Returns whether the quote at the start of a cell is text. @param close - Closing quote, or -1. */
  #isStray(open: number, close: number): boolean {
    if (!this.#allowsStrayQuotes) return false;
    if (close === -1) return this.#isEnded || this.#length - this.#at > MAX_INCOMPLETE_BYTES;
    if (this.#stops[this.#bytes[close + 1] ?? 0] === 1) return false;
    const end = this.#cellEnd(open);
    return end !== -1 && end < close;
  }

  #cellEnd(from: number): number {
    const [bytes, stops, length] = [this.#bytes, this.#stops, this.#length];
    let at = from;
    while (at < length && stops[bytes[at] ?? 0] === 0) at += 1;
    return at < length ? at : -1;
  }

  /** Returns the offset of the quote, or -1 when it or the byte behind it is missing. */
  #closingQuote(open: number): number {
    const bytes = this.#bytes;
    const last = this.#length - 1;
    this.#isDoubled = false;
    for (let at = open + 1; at < last; at += 1) {
      if (bytes[at] !== QUOTE) continue;
      if (bytes[at + 1] !== QUOTE) return at;
      this.#isDoubled = true;
      at += 1;
    }
    return -1;
  }

  #isLineEnd(at: number): boolean {
    const byte = this.#bytes[at];
    return at < this.#length && (byte === LINE_FEED || byte === RETURN);
  }

  /** Returns the offset behind the line end, or -1 when a line feed may follow a return. */
  #afterLineEnd(at: number): number {
    if (this.#bytes[at] === LINE_FEED) return at + 1;
    if (at + 1 === this.#length) return -1;
    return this.#bytes[at + 1] === LINE_FEED ? at + 2 : at + 1;
  }

  #endRow(sourceBytes: number): void {
    for (const odd of this.#oddCells) this.#rewrite(odd);
    this.#batch.endRow();
    if (sourceBytes <= MAX_ROW_CHARS) return;
    refuseLong(this.#batch.textsOf(this.#batch.rows - 1).reduce((chars, text) => chars + text.length, 0));
  }

  /** Replaces the source of a cell by its text, which is never longer. */
  #rewrite({ cell, open, close, end }: OddCell): void {
    const bytes = this.#bytes;
    let length = open + 1;
    for (let at = open + 1; at < close; at += 1) {
      bytes[length] = bytes[at] ?? 0;
      length += 1;
      if (bytes[at] === QUOTE) at += 1;
    }
    if (end > close + 1) {
      const dropsQuotes = bytes[close + 1] === 0;
      const from = dropsQuotes ? close + 1 : close;
      bytes.copyWithin(length, from, end);
      length += end - from;
      if (!dropsQuotes) this.#batch.starts[cell] = open;
    }
    this.#batch.ends[cell] = length;
  }
}
