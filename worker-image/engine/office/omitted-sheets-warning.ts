/** Counts the sheets of a workbook: a CSV file has only the first one. */
import type { Readable } from 'node:stream';
import type { Format } from '#crds/catalogue/formats.ts';
import { withFileReader } from '#worker-image/engine/containers/file-reader.ts';
import { countXlsSheets, type XlsSheets } from '#worker-image/engine/containers/xls-sheets.ts';
import { countInParts, wholeTags } from '#worker-image/engine/office/document-parts.ts';

/** Parts among which one lists all sheets of an Excel workbook: programs name it differently. The others list none. */
const WORKBOOK = /^(?:xl\/)?(?!sharedStrings\.|calcChain\.)[^/]+\.xml$/;

/** Part that lists all sheets; null for documents that are one file. */
export const SHEET_LISTS: Readonly<Partial<Record<Format, RegExp | null>>> = {
  xlsx: WORKBOOK,
  xlsm: WORKBOOK,
  ods: /^content\.xml$/,
  fods: null,
};

const TAG = /<(\/?)(?:table:table|(?:\w+:)?sheet)(?=[\s/>])([^<>]*)>/g;
/** Style of cached sheets of other workbooks, which formulas refer to. */
export const EXTERNAL_STYLE = 'ta_extref';

/** Returns the warning for sheets that a CSV file omits, including hidden ones. */
export async function omittedSheetsWarnings(path: string, format: Format): Promise<string[]> {
  const sheets = await countSheets(path, format);
  if (sheets < 2) return [];
  return [`A csv file contains one sheet: the other ${sheets === 2 ? 'one was' : `${sheets - 1} were`} dropped.`];
}

async function countSheets(path: string, format: Format): Promise<number> {
  const list = SHEET_LISTS[format];
  if (list !== undefined) return countInParts(path, list, countIn);
  return (await countXlsSheetsIn(path)).all;
}

/** Counts the sheets of an xls workbook. As in a damaged part of a package, only the warning is missing in a damaged one. */
export function countXlsSheetsIn(path: string): Promise<XlsSheets> {
  return withFileReader(path, countXlsSheets).catch(() => ({ all: 0, hidden: 0 }));
}

/** Counts the sheets of a part, without nested tables, which belong to charts. */
async function countIn(part: Readable): Promise<number> {
  let depth = 0;
  let sheets = 0;
  for await (const xml of wholeTags(part)) {
    for (const [, slash, attributes = ''] of xml.matchAll(TAG)) {
      if (slash === '' && depth === 0 && !attributes.includes(`"${EXTERNAL_STYLE}"`)) sheets += 1;
      if (slash === '/') depth -= 1;
      else if (!attributes.endsWith('/')) depth += 1;
    }
  }
  return sheets;
}
