/** Reads CSV and TSV. */
import { pipeline, Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { voteDelimiter } from '#worker-image/engine/table/dialect.ts';
import {
  MAX_ROW_CHARS,
  refuseLong,
  refuseWide,
  unparseable,
  type OpenText,
  type Row,
} from '#worker-image/engine/table/table-row.ts';

const SAMPLE_CHARS = 64 * 1024;
/** Excel's own first line that names the separator. */
const SEPARATOR_LINE = /^sep=([,;\t|])\r?\n/i;

export async function* readTsv(open: OpenText): AsyncGenerator<Row> {
  const [sample, text] = await peek(open());
  yield* readDelimited(text, { format: 'tsv', delimiter: '\t', oneColumn: /^[^\t]*\S[^\t]*$/.test(sample) });
}

/** Separators are found out: comma, semicolon, tab or bar. */
export async function* readCsv(open: OpenText): AsyncGenerator<Row> {
  const [sample, text] = await peek(open());
  const named = SEPARATOR_LINE.exec(sample);
  const delimiter = named?.[1] ?? voteDelimiter(sample);
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
  /** An empty line is a row whose cell is empty; in wider tables it is nothing. */
  readonly oneColumn: boolean;
}

async function* readDelimited(
  text: AsyncIterable<string>,
  { format, delimiter, oneColumn }: Dialect,
): AsyncGenerator<Row> {
  const parser = parse({
    delimiter,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: !oneColumn,
    max_record_size: MAX_ROW_CHARS,
  });
  // Errors of either stream come out of the loop.
  pipeline(Readable.from(text), parser, () => {});
  try {
    for await (const row of parser) yield refuseWide(row as string[]);
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    if (error.code === 'CSV_MAX_RECORD_SIZE') refuseLong(MAX_ROW_CHARS + 1);
    throw unparseable(format, `there is a quote without its partner near line ${Number(error['lines'])}`, error);
  }
}

/** The first characters, and the whole text with them. */
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

/** The characters to skip are all in the first piece. */
async function* skip(text: AsyncIterable<string>, chars: number): AsyncGenerator<string> {
  let left = chars;
  for await (const piece of text) {
    yield piece.slice(left);
    left = 0;
  }
}
