/** Converts tables row by row (docs/reference/formats.md#tables). */
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Format } from '#crds/catalogue/formats.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import type { EngineDeps, KindHandler, Produced } from '#worker-image/engine/handler.ts';
import { countXlsxRows } from '#worker-image/engine/table/count-xlsx-rows.ts';
import { htmlCharset } from '#worker-image/engine/containers/html-charset.ts';
import { countJsonRows } from '#worker-image/engine/table/read-json.ts';
import { readText } from '#worker-image/engine/containers/read-text.ts';
import { unparseable, type OpenText, type TableRows, type Warn } from '#worker-image/engine/table/table-row.ts';
import { unsupportedTarget } from '#crds/contract/work-rules.ts';

type Reader = (open: OpenText, warn: Warn) => TableRows;
type Writer = (rows: TableRows) => AsyncIterable<string | Uint8Array>;

/** Loaders of the readers: loading those of HTML and Markdown takes longer than converting a small CSV file. */
const READERS: Readonly<Partial<Record<Format, () => Promise<Reader>>>> = {
  csv: async () => (await import('#worker-image/engine/table/read-delimited.ts')).readCsv,
  tsv: async () => (await import('#worker-image/engine/table/read-delimited.ts')).readTsv,
  json: async () => (await import('#worker-image/engine/table/read-json.ts')).readJson,
  ndjson: async () => (await import('#worker-image/engine/table/read-json.ts')).readNdjson,
  html: async () => (await import('#worker-image/engine/table/read-html.ts')).readHtml,
  md: async () => (await import('#worker-image/engine/table/read-markdown.ts')).readMarkdown,
};

const WRITERS: Readonly<Partial<Record<Format, () => Promise<Writer>>>> = {
  csv: async () => (await import('#worker-image/engine/table/write-text-tables.ts')).writeCsv,
  tsv: async () => (await import('#worker-image/engine/table/write-text-tables.ts')).writeTsv,
  json: async () => (await import('#worker-image/engine/table/write-text-tables.ts')).writeJson,
  ndjson: async () => (await import('#worker-image/engine/table/write-text-tables.ts')).writeNdjson,
  html: async () => (await import('#worker-image/engine/table/write-text-tables.ts')).writeHtml,
  md: async () => (await import('#worker-image/engine/table/write-text-tables.ts')).writeMarkdown,
  xlsx: async () => (await import('#worker-image/engine/table/write-xlsx.ts')).writeXlsx,
};

/** Maximum size of the output as a multiple of the input size. JSON repeats the keys in every row. */
const MAX_GROWTH = 20;
const MIN_OUTPUT_BYTES = 512 * 1024 ** 2;
const PIECE_CHARS = 256 * 1024;

interface TableFile {
  readonly path: string;
  readonly format: Format;
}

export const tableHandler: KindHandler = makeTableHandler();

function makeTableHandler(): KindHandler {
  /** Result → rows read for it, so that verification does not read a large input again. */
  const rowsRead = new WeakMap<Produced, number>();
  return {
    loadAll: () => Promise.all([...Object.values(READERS), ...Object.values(WRITERS)].map((load) => load())),

    inspect: () => Promise.resolve({}),

    convert: async (deps, work): Promise<Produced> => {
      const { to } = work.options.convert;
      const loadWriter = to === null ? undefined : WRITERS[to];
      if (to === null || loadWriter === undefined) throw unsupportedTarget('table', to);
      const path = join(work.directory, `output.${to}`);
      const onBytes = (bytes: number): void => deps.onProgress((bytes / work.input.size) * 100);
      const counter = { rows: 0 };
      const warnings = new Set<string>();
      const warn = (warning: string): void => void warnings.add(warning);
      const write = await loadWriter();
      const rows = filled(await rowsOf(deps, work.input, { onBytes, warn }), { format: work.input.format, counter });
      await save(path, write(rows), Math.max(MIN_OUTPUT_BYTES, work.input.size * MAX_GROWTH));
      const produced = { path, format: to, facts: {}, warnings: [...warnings] };
      rowsRead.set(produced, counter.rows);
      return produced;
    },

    verify: async (deps, work, _input, produced) => {
      const before = rowsRead.get(produced) ?? (await count(await rowsOf(deps, work.input)));
      const after = await countWritten(deps, produced);
      if (after !== before) throw new Error(`the output has ${after} rows, the input ${before}`);
    },
  };
}

/** Counts the rows of a result, including the row of column names. */
async function countWritten(deps: Pick<EngineDeps, 'signal'>, { path, format }: Produced): Promise<number> {
  if (format === 'xlsx') return countXlsxRows(path);
  if (format !== 'json' && format !== 'ndjson') return count(await rowsOf(deps, { path, format }));
  // In JSON the column names are keys, not a row.
  return 1 + (await countJsonRows(format, () => readText(path, deps)));
}

interface Listeners {
  /** Called with the bytes read so far. */
  readonly onBytes?: (bytes: number) => void;
  readonly warn?: Warn;
}

async function rowsOf(
  { signal }: Pick<EngineDeps, 'signal'>,
  { path, format }: TableFile,
  { onBytes, warn = () => {} }: Listeners = {},
): Promise<TableRows> {
  const read = await READERS[format]?.();
  if (read === undefined) throw new TypeError(`${format} is no table that is read`);
  const declared = format === 'html' ? { declared: htmlCharset } : {};
  const options = { signal, warn, ...declared, ...(onBytes === undefined ? {} : { onBytes }) };
  return read(() => readText(path, options), warn);
}

interface Counted {
  readonly format: Format;
  readonly counter: { rows: number };
}

async function* filled(rows: TableRows, { format, counter }: Counted): AsyncGenerator<readonly string[]> {
  for await (const row of rows) {
    counter.rows += 1;
    yield row;
  }
  if (counter.rows === 0) throw unparseable(format, 'it has no rows');
}

async function save(path: string, pieces: AsyncIterable<string | Uint8Array>, maxBytes: number): Promise<void> {
  await using file = await open(path, 'w');
  let [text, bytes] = ['', 0];
  const write = async (data: string | Uint8Array): Promise<void> => {
    const buffer = typeof data === 'string' ? Buffer.from(data) : data;
    bytes += buffer.length;
    if (bytes > maxBytes)
      throw new MediaError('limit_exceeded', `The converted table has more than ${maxBytes} bytes. Split the table.`);
    if (buffer.length > 0) await file.writeFile(buffer);
  };
  for await (const piece of pieces) {
    if (typeof piece !== 'string') {
      await write(piece);
      continue;
    }
    text += piece;
    if (text.length < PIECE_CHARS) continue;
    await write(text);
    text = '';
  }
  await write(text);
}

async function count(rows: TableRows): Promise<number> {
  let number = 0;
  for await (const _row of rows) number += 1;
  return number;
}
