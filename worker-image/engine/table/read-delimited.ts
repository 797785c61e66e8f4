/** Reads CSV and TSV. */
import { DelimitedScanner } from '#worker-image/engine/table/delimited-scanner.ts';
import { detectDelimiter } from '#worker-image/engine/table/detect-delimiter.ts';
import type { RowBatch } from '#worker-image/engine/table/row-batch.ts';
import { unparseable } from '#worker-image/engine/table/table-row.ts';

const SAMPLE_CHARS = 64 * 1024;
/** First line by which Excel declares the delimiter. */
const SEPARATOR_LINE = /^sep=([,;\t|])\r?\n/i;
const LINE_END = /\r\n|\n|\r/g;

/** Opens the table at its start, in UTF-8 without a byte order mark. Each piece is valid until the next one. */
export type OpenUtf8 = () => AsyncIterable<Uint8Array>;

/** Reads tab-separated values. */
export function readTsv(open: OpenUtf8): AsyncGenerator<RowBatch> {
  return readDelimited('tsv', open, (sample) => ({
    delimiter: '\t',
    keepsEmptyLines: !sample.includes('\t') && /\S/.test(sample),
    allowsStrayQuotes: true,
    skipped: 0,
  }));
}

/** Reads CSV with a detected delimiter: comma, semicolon, tab or vertical bar. */
export function readCsv(open: OpenUtf8): AsyncGenerator<RowBatch> {
  return readDelimited('csv', open, (sample) => {
    const named = SEPARATOR_LINE.exec(sample);
    const delimiter = named?.[1] ?? detectDelimiter(sample);
    return {
      delimiter: delimiter ?? ',',
      keepsEmptyLines: delimiter === null && /\S/.test(sample),
      allowsStrayQuotes: false,
      skipped: named?.[0].length ?? 0,
    };
  });
}

interface Dialect {
  readonly delimiter: string;
  /** True when an empty line is a row with one empty cell; wider tables ignore empty lines. */
  readonly keepsEmptyLines: boolean;
  readonly allowsStrayQuotes: boolean;
  /** Number of characters before the table. */
  readonly skipped: number;
}

async function* readDelimited(
  format: 'csv' | 'tsv',
  open: OpenUtf8,
  detect: (sample: string) => Dialect,
): AsyncGenerator<RowBatch> {
  let scanner: DelimitedScanner | null = null;
  for await (const piece of joinSample(open())) {
    if (scanner === null) {
      const { skipped, ...dialect } = detect(textOf(piece));
      scanner = new DelimitedScanner(dialect);
      yield* scanner.write(piece.subarray(skipped));
    } else yield* scanner.write(piece);
  }
  if (scanner !== null && !(yield* scanner.end()))
    throw unparseable(format, `a quote near line ${await lastLine(open())} is not closed`);
}

/** Joins the first pieces until they have enough characters for a sample. */
async function* joinSample(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let first: Uint8Array | null = new Uint8Array(0);
  for await (const piece of pieces) {
    if (first === null) {
      yield piece;
      continue;
    }
    first = Buffer.concat([first, piece]);
    if (textOf(first).length < SAMPLE_CHARS) continue;
    yield first;
    first = null;
  }
  if (first !== null) yield first;
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: true });
}

/** Returns the number of lines. */
async function lastLine(pieces: AsyncIterable<Uint8Array>): Promise<number> {
  let [lines, rest] = [1, ''];
  for await (const piece of pieces) {
    const text = rest + Buffer.from(piece).toString('latin1');
    // A line end counts when something follows it.
    rest = /(?:\r\n|\n|\r)$/.exec(text)?.[0] ?? '';
    lines += text.slice(0, text.length - rest.length).match(LINE_END)?.length ?? 0;
  }
  return lines;
}
