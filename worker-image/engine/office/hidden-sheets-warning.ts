/** Counts the hidden sheets of a workbook, which PDF and HTML omit. */
import type { Readable } from 'node:stream';
import type { Format } from '#crds/catalogue/formats.ts';
import { countInParts, countMatches, omissionWarnings } from '#worker-image/engine/office/document-parts.ts';
import { hiddenElementCounter } from '#worker-image/engine/office/hidden-elements.ts';
import { countXlsSheetsIn, EXTERNAL_STYLE, SHEET_LISTS } from '#worker-image/engine/office/omitted-sheets-warning.ts';

/** Counts the tables of OpenDocument whose style hides them, without cached sheets of other workbooks. */
const countHiddenTables = hiddenElementCounter({
  element: 'table:table',
  attribute: 'table:style-name',
  properties: 'style:table-properties',
  hidden: /\btable:display\s*=\s*["']false["']/,
  except: EXTERNAL_STYLE,
});
/** Counters of the hidden sheets in the part that lists all sheets. */
const COUNTERS: Readonly<Partial<Record<Format, (part: Readable) => Promise<number>>>> = {
  xlsx: countHiddenInWorkbook,
  xlsm: countHiddenInWorkbook,
  ods: countHiddenTables,
  fods: countHiddenTables,
};

const HIDDEN_SHEET = /<(?:\w+:)?sheet\s[^<>]*\bstate\s*=\s*["'](?:hidden|veryHidden)["']/g;

/** Returns the warning for the hidden sheets of a workbook. */
export async function hiddenSheetsWarnings(path: string, format: Format): Promise<string[]> {
  return omissionWarnings(await countHiddenSheets(path, format), 'hidden sheet');
}

async function countHiddenSheets(path: string, format: Format): Promise<number> {
  if (format === 'xls') return (await countXlsSheetsIn(path)).hidden;
  const [list, count] = [SHEET_LISTS[format], COUNTERS[format]];
  return list === undefined || count === undefined ? 0 : countInParts(path, list, count);
}

function countHiddenInWorkbook(part: Readable): Promise<number> {
  return countMatches(part, HIDDEN_SHEET);
}
