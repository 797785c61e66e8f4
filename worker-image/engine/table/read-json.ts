/** Reads JSON and NDJSON. Objects are read twice: their columns are all keys that any of them has. */
import { parseJsonRow, refuseInvalidJson, type JsonRow } from '#worker-image/engine/table/json-row.ts';
import { scanJsonRows } from '#worker-image/engine/table/json-rows-scanner.ts';
import {
  refuseColumns,
  refuseWide,
  unparseable,
  type OpenText,
  type Rows,
} from '#worker-image/engine/table/table-row.ts';
import { linesOf } from '#worker-image/engine/table/text-lines.ts';

type Format = 'json' | 'ndjson';

export function readJson(open: OpenText): Rows {
  return readValues('json', () => valuesOf('json', open));
}

export function readNdjson(open: OpenText): Rows {
  return readValues('ndjson', () => valuesOf('ndjson', open));
}

/** Rows without one for the names: in one pass, as the columns do not matter. @throws MediaError processing_failed. */
export async function countJsonRows(format: Format, open: OpenText): Promise<number> {
  let number = 0;
  for await (const text of valuesOf(format, open)) {
    refuseInvalidJson(text, format);
    number += 1;
  }
  return number;
}

/** The JSON text of each row. */
function valuesOf(format: Format, open: OpenText): AsyncIterable<string> {
  return format === 'json' ? scanJsonRows(open()) : filledLines(open());
}

async function* readValues(format: Format, values: () => AsyncIterable<string>): AsyncGenerator<readonly string[]> {
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

function cellsOf(format: Format, row: JsonRow, columns: readonly string[] | null): readonly string[] {
  if ('members' in row && columns !== null) return columns.map((name) => row.members.get(name) ?? '');
  if ('cells' in row && columns === null) return row.cells;
  throw unparseable(format, 'some rows are objects and some are arrays');
}

async function columnsOf(format: Format, values: AsyncIterable<string>): Promise<string[]> {
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
