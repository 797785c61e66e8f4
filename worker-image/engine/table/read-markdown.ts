import { markdownCells } from '#worker-image/engine/table/markdown-cells.ts';
import { markdownTables } from '#worker-image/engine/table/markdown-tables.ts';
import {
  refuseWide,
  unparseable,
  warnOfOtherTables,
  type OpenText,
  type TableRow,
  type Warn,
} from '#worker-image/engine/table/table-row.ts';

/** Reads the first table of a Markdown text in the form of GitHub Flavored Markdown. */
export async function* readMarkdown(open: OpenText, warn: Warn): AsyncGenerator<TableRow> {
  let tables = 0;
  for await (const { table, line } of markdownTables(open())) {
    tables = table;
    if (table === 1) yield refuseWide(markdownCells(line));
  }
  if (tables === 0) throw unparseable('md', 'there is no table with a line of dashes below its header');
  warnOfOtherTables(tables, warn);
}
