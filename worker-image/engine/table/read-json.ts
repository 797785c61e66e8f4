/** Reads JSON and NDJSON. Reads objects twice: the columns are the keys of all objects. */
import { parseJsonRow, type JsonRow } from '#worker-image/engine/table/json-row.ts';
import { scanJsonRows } from '#worker-image/engine/table/json-rows-scanner.ts';
import {
  refuseColumns,
  refuseWide,
  unparseable,
  type OpenText,
  type TextRows,
} from '#worker-image/engine/table/table-row.ts';
import { linesOf } from '#worker-image/engine/table/text-lines.ts';

type JsonFormat = 'json' | 'ndjson';

/** Reads the rows of a JSON file. */
export function readJson(open: OpenText): TextRows {
  return readValues('json', () => valuesOf('json', open));
}

/** Reads the rows of a file with one JSON value per line. */
export function readNdjson(open: OpenText): TextRows {
  return readValues('ndjson', () => valuesOf('ndjson', open));
}

/** Returns the JSON text of each row. */
function valuesOf(format: JsonFormat, open: OpenText): AsyncIterable<string> {
  return format === 'json' ? scanJsonRows(open()) : filledLines(open());
}

async function* readValues(format: JsonFormat, values: () => AsyncIterable<string>): AsyncGenerator<readonly string[]> {
  let columns: string[] | null = null;
  for await (const text of values()) {
    const row = parseJsonRow(text, format);
    if (columns === null && 'members' in row) {
      columns = await columnsOf(format, values());
      yield columns;
    }
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
