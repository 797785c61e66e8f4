/** Reads JSON and NDJSON, each also with the name of the other. Reads objects twice: the columns are all their keys. */
import { parseJsonRow, type JsonRow } from '#worker-image/engine/table/json-row.ts';
import { scanJsonRows, type JsonSurroundings } from '#worker-image/engine/table/json-rows-scanner.ts';
import {
  refuseColumns,
  refuseWide,
  unparseable,
  type OpenText,
  type TableRow,
  type TextRows,
  type Warn,
} from '#worker-image/engine/table/table-row.ts';
import { linesOf } from '#worker-image/engine/table/text-lines.ts';

type JsonFormat = 'json' | 'ndjson';

/** The only line of a file when it is an array of rows, not a row. */
const ROWS_ON_ONE_LINE = /^\s*\[\s*[[{]/;

/** Reads the rows of a JSON file. */
export function readJson(open: OpenText, warn: Warn): TextRows {
  const around: JsonSurroundings = { isWrapped: false, names: null, isSequence: false };
  return readValues({
    format: 'json',
    values: () => jsonValues(open, { around, warn }),
    namesOf: async (columns) => {
      // The names may follow the rows.
      if (around.isWrapped && around.names === null) await skip(scanJsonRows(open(), around));
      return around.names?.length === columns ? around.names : null;
    },
  });
}

/** Reads the rows of a file with one JSON value per line. */
export function readNdjson(open: OpenText, warn: Warn): TextRows {
  return readValues({
    format: 'ndjson',
    values: () => ndjsonValues(open, warn),
    namesOf: () => Promise.resolve(null),
  });
}

interface Surrounded {
  readonly around: JsonSurroundings;
  readonly warn: Warn;
}

/** Returns the JSON text of each row. */
async function* jsonValues(open: OpenText, { around, warn }: Surrounded): AsyncGenerator<string> {
  yield* scanJsonRows(open(), around);
  if (!around.isSequence) return;
  warn('The file is not one JSON value: it was read as NDJSON, with one value per line.');
  yield* filledLines(open());
}

/** Returns the JSON text of each row. */
async function* ndjsonValues(open: OpenText, warn: Warn): AsyncGenerator<string> {
  let [lines, first] = [0, ''];
  for await (const line of filledLines(open())) {
    lines += 1;
    if (lines === 1) first = line;
    else {
      if (lines === 2) yield first;
      yield line;
    }
  }
  if (lines !== 1) return;
  if (ROWS_ON_ONE_LINE.test(first)) {
    warn('The file is one JSON array: it was read as JSON, not as NDJSON.');
    yield* scanJsonRows(open());
  } else yield first;
}

async function skip(values: AsyncIterable<string>): Promise<void> {
  for await (const _value of values);
}

interface JsonSource {
  readonly format: JsonFormat;
  /** Returns the JSON text of each row; called once per pass over the file. */
  readonly values: () => AsyncIterable<string>;
  /** Returns the column names that the file lists for rows of so many columns that are arrays, or null. */
  readonly namesOf: (columns: number) => Promise<TableRow | null>;
}

async function* readValues({ format, values, namesOf }: JsonSource): AsyncGenerator<TableRow> {
  let [columns, isFirst]: [string[] | null, boolean] = [null, true];
  for await (const text of values()) {
    const row = parseJsonRow(text, format);
    if (isFirst) {
      if ('members' in row) columns = await columnsOf(format, values());
      const names = 'cells' in row ? await namesOf(row.cells.length) : columns;
      if (names !== null) yield refuseWide(names);
    }
    isFirst = false;
    yield refuseWide(cellsOf(format, row, columns));
  }
}

function cellsOf(format: JsonFormat, row: JsonRow, columns: readonly string[] | null): readonly string[] {
  if ('members' in row && columns !== null) return columns.map((name) => row.members.get(name) ?? '');
  if ('cells' in row && columns === null) return row.cells;
  throw unparseable(format, 'some rows are objects and some are arrays');
}

async function columnsOf(format: JsonFormat, values: AsyncIterable<string>): Promise<string[]> {
  const columns = new Set<string>();
  for await (const text of values) {
    const row = parseJsonRow(text, format);
    if (!('members' in row)) continue;
    for (const name of row.members.keys()) columns.add(name);
    refuseColumns(columns.size);
  }
  return columns.size === 0 ? [''] : [...columns];
}

async function* filledLines(text: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const line of linesOf(text)) {
    if (line.trim() !== '') yield line;
  }
}
