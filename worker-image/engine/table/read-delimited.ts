/** Reads CSV and TSV. */
import { pipeline, Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { detectDelimiter } from '#worker-image/engine/table/detect-delimiter.ts';
import {
  MAX_ROW_CHARS,
  refuseLong,
  refuseWide,
  unparseable,
  type OpenText,
  type TableRow,
} from '#worker-image/engine/table/table-row.ts';

const SAMPLE_CHARS = 64 * 1024;
/** First line by which Excel declares the delimiter. */
const SEPARATOR_LINE = /^sep=([,;\t|])\r?\n/i;

/** Reads tab-separated values. */
export async function* readTsv(open: OpenText): AsyncGenerator<TableRow> {
  const [sample, text] = await peek(open());
  yield* readDelimited(text, { format: 'tsv', delimiter: '\t', oneColumn: /^[^\t]*\S[^\t]*$/.test(sample) });
}

/** Reads CSV with a detected delimiter: comma, semicolon, tab or vertical bar. */
export async function* readCsv(open: OpenText): AsyncGenerator<TableRow> {
  const [sample, text] = await peek(open());
  const named = SEPARATOR_LINE.exec(sample);
  const delimiter = named?.[1] ?? detectDelimiter(sample);
  const dialect = {
    format: 'csv',
    delimiter: delimiter ?? ',',
    oneColumn: delimiter === null && /\S/.test(sample),
  } as const;
  yield* readDelimited(skip(text, named?.[0].length ?? 0), dialect);
}

interface Dialect {
  readonly format: 'csv' | 'tsv';
  readonly delimiter: string;
  /** True when an empty line is a row with one empty cell; wider tables ignore empty lines. */
  readonly oneColumn: boolean;
}

async function* readDelimited(
  text: AsyncIterable<string>,
  { format, delimiter, oneColumn }: Dialect,
): AsyncGenerator<TableRow> {
  const parser = parse({
    delimiter,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: !oneColumn,
    max_record_size: MAX_ROW_CHARS,
  });
  // The loop below throws the errors of either stream.
  pipeline(Readable.from(text), parser, () => {});
  try {
    for await (const row of parser) yield refuseWide(row as string[]);
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    if (error.code === 'CSV_MAX_RECORD_SIZE') refuseLong(MAX_ROW_CHARS + 1);
    throw unparseable(format, `a quote near line ${Number(error['lines'])} is not closed`, error);
  }
}

/** Returns the first characters, and the whole text including them. */
async function peek(text: AsyncIterable<string>): Promise<[string, AsyncIterable<string>]> {
  const iterator = text[Symbol.asyncIterator]();
  let sample = '';
  while (sample.length < SAMPLE_CHARS) {
    const next = await iterator.next();
    if (next.done === true) break;
    sample += next.value;
  }
  return [sample, chain(sample, iterator)];
}

async function* chain(first: string, rest: AsyncIterator<string>): AsyncGenerator<string> {
  yield first;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
}

/** Skips characters of the first piece. */
async function* skip(text: AsyncIterable<string>, chars: number): AsyncGenerator<string> {
  let left = chars;
  for await (const piece of text) {
    yield piece.slice(left);
    left = 0;
  }
}
