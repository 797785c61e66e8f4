/** Counts the hidden sheets of a workbook, which PDF and HTML omit. */
import type { Readable } from 'node:stream';
import type { Format } from '#crds/catalogue/formats.ts';
import { countInParts, wholeTags } from '#worker-image/engine/office/document-parts.ts';
import { countXlsSheetsIn, EXTERNAL_STYLE, SHEET_LISTS } from '#worker-image/engine/office/omitted-sheets-warning.ts';

/** Counters of the hidden sheets in the part that lists all sheets. */
const COUNTERS: Readonly<Partial<Record<Format, (part: Readable) => Promise<number>>>> = {
  xlsx: countHiddenInWorkbook,
  xlsm: countHiddenInWorkbook,
  ods: countHiddenTables,
  fods: countHiddenTables,
};

const HIDDEN_SHEET = /<(?:\w+:)?sheet\s[^<>]*\bstate\s*=\s*["'](?:hidden|veryHidden)["']/g;
const STYLE_OR_TABLE = /<(style:style|style:table-properties|table:table)\s([^<>]*)>/g;
const HIDDEN_STYLE = /\btable:display\s*=\s*["']false["']/;

/** Returns the warning for the hidden sheets of a workbook. */
export async function hiddenSheetsWarnings(path: string, format: Format): Promise<string[]> {
  const hidden = await countHiddenSheets(path, format);
  if (hidden === 0) return [];
  return [hidden === 1 ? 'A hidden sheet was omitted.' : `${hidden} hidden sheets were omitted.`];
}

async function countHiddenSheets(path: string, format: Format): Promise<number> {
  if (format === 'xls') return (await countXlsSheetsIn(path)).hidden;
  const [list, count] = [SHEET_LISTS[format], COUNTERS[format]];
  return list === undefined || count === undefined ? 0 : countInParts(path, list, count);
}

async function countHiddenInWorkbook(part: Readable): Promise<number> {
  let hidden = 0;
  for await (const xml of wholeTags(part)) hidden += xml.match(HIDDEN_SHEET)?.length ?? 0;
  return hidden;
}

/** Counts the tables of OpenDocument whose style, which precedes them, hides them. */
async function countHiddenTables(part: Readable): Promise<number> {
  const hiding = new Set<string>();
  let [style, hidden] = ['', 0];
  for await (const xml of wholeTags(part)) {
    for (const [, tag, attributes = ''] of xml.matchAll(STYLE_OR_TABLE)) {
      if (tag === 'style:style') style = attribute(attributes, 'style:name');
      else if (tag === 'table:table') hidden += Number(hiding.has(attribute(attributes, 'table:style-name')));
      else if (HIDDEN_STYLE.test(attributes) && style !== EXTERNAL_STYLE) hiding.add(style);
    }
  }
  return hidden;
}

function attribute(attributes: string, name: string): string {
  return new RegExp(`\\b${name}\\s*=\\s*["']([^"']*)["']`).exec(attributes)?.[1] ?? '';
}
