/** Converts tables row by row (docs/reference/formats.md#tables). */
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { Format } from '#crds/catalogue/formats.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import type { EngineDeps, KindHandler, Produced } from '#worker-image/engine/handler.ts';
import { countXlsxRows } from '#worker-image/engine/table/count-xlsx-rows.ts';
import { htmlCharset } from '#worker-image/engine/containers/html-charset.ts';
import { countJsonRows } from '#worker-image/engine/table/count-json-rows.ts';
import type { OpenUtf8 } from '#worker-image/engine/table/read-delimited.ts';
import { chunksOf, readText, readUtf8 } from '#worker-image/engine/containers/read-text.ts';
import { packRows, type RowBatch, type TableRows } from '#worker-image/engine/table/row-batch.ts';
import { unparseable, type OpenText, type TextRows, type Warn } from '#worker-image/engine/table/table-row.ts';
import type { WrittenFile } from '#worker-image/engine/written-file.ts';
import { unsupportedTarget } from '#crds/contract/work-rules.ts';

/** Opens a table at its start; called once per pass over it. */
interface TableText {
  readonly text: OpenText;
  readonly utf8: OpenUtf8;
}

type Reader = (open: TableText, warn: Warn) => TableRows;
type Writer = (rows: TableRows, warn: Warn) => AsyncIterable<Uint8Array>;

/** Loaders of the readers: loading those of HTML and Markdown takes longer than converting a small CSV file. */
const READERS: Readonly<Partial<Record<Format, () => Promise<Reader>>>> = {
  csv: async () => ofUtf8((await import('#worker-image/engine/table/read-delimited.ts')).readCsv),
  tsv: async () => ofUtf8((await import('#worker-image/engine/table/read-delimited.ts')).readTsv),
  json: async () => ofText((await import('#worker-image/engine/table/read-json.ts')).readJson),
  ndjson: async () => ofText((await import('#worker-image/engine/table/read-json.ts')).readNdjson),
  html: async () => ofText((await import('#worker-image/engine/table/read-html.ts')).readHtml),
  md: async () => ofText((await import('#worker-image/engine/table/read-markdown.ts')).readMarkdown),
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

interface TableFile {
  readonly path: string;
  readonly format: Format;
}

export const tableHandler: KindHandler = makeTableHandler();

function makeTableHandler(): KindHandler {
  /** Rows of the results as they were written. */
  const results = new WeakMap<Produced, number>();
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
      const written = await save(path, write(rows, warn), Math.max(MIN_OUTPUT_BYTES, work.input.size * MAX_GROWTH));
      const produced = { path, format: to, facts: {}, warnings: [...warnings], written };
      results.set(produced, counter.rows);
      return produced;
    },

    verify: async (deps, work, _input, produced) => {
      const before = results.get(produced) ?? (await count(await rowsOf(deps, work.input)));
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
  return 1 + (await countJsonRows(format, chunksOf(path, deps)));
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
  return read({ text: () => readText(path, options), utf8: () => readUtf8(path, options) }, warn);
}

function ofUtf8(read: (open: OpenUtf8) => TableRows): Reader {
  return ({ utf8 }) => read(utf8);
}

function ofText(read: (open: OpenText, warn: Warn) => TextRows): Reader {
  return ({ text }, warn) => packRows(read(text, warn));
}

interface Counted {
  readonly format: Format;
  readonly counter: { rows: number };
}

async function* filled(batches: TableRows, { format, counter }: Counted): AsyncGenerator<RowBatch> {
  for await (const batch of batches) {
    counter.rows += batch.rows;
    yield batch;
  }
  if (counter.rows === 0) throw unparseable(format, 'it has no rows');
}

/** Writes each piece while the next one is made. */
async function save(path: string, pieces: AsyncIterable<Uint8Array>, maxBytes: number): Promise<WrittenFile> {
  await using file = await open(path, 'w');
  let [bytes, checksum, writing] = [0, 0, Promise.resolve()];
  for await (const piece of pieces) {
    bytes += piece.length;
    if (bytes > maxBytes)
      throw new MediaError('limit_exceeded', `The converted table has more than ${maxBytes} bytes. Split the table.`);
    checksum = crc32(piece, checksum);
    await writing;
    writing = file.writeFile(piece);
    // It is awaited with the next piece, unless making that one fails first.
    writing.catch(() => undefined);
  }
  await writing;
  return { bytes, checksum };
}

async function count(batches: TableRows): Promise<number> {
  let rows = 0;
  for await (const batch of batches) rows += batch.rows;
  return rows;
}
