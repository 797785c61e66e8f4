/** Counts the sheets of a workbook, of which a CSV file holds one. */
import type { Readable } from 'node:stream';
import type { Format } from '#crds/formats.ts';
import { partsOf, wholeTags } from '#worker-image/engine/office/document-parts.ts';

/** The part that names every sheet; null for documents that are one file. The binary formats are not looked into. */
const PARTS: Readonly<Partial<Record<Format, RegExp | null>>> = {
  xlsx: /^xl\/workbook\.xml$/,
  xlsm: /^xl\/workbook\.xml$/,
  ods: /^content\.xml$/,
  fods: null,
};

const TAG = /<(\/?)(?:table:table|(?:\w+:)?sheet)(?=[\s/>])([^<>]*)>/g;
/** The style of what LibreOffice keeps of another workbook that formulas refer to. */
const FOREIGN = '"ta_extref"';

/** What to say of the sheets that a CSV file has no place for; hidden ones count. */
export async function leftOutSheets(path: string, format: Format): Promise<string[]> {
  const sheets = await countSheets(path, format);
  if (sheets < 2) return [];
  return [`A csv file holds one sheet: the other ${sheets === 2 ? 'one was' : `${sheets - 1} were`} left out.`];
}

async function countSheets(path: string, format: Format): Promise<number> {
  const names = PARTS[format];
  let sheets = 0;
  if (names === undefined) return sheets;
  try {
    for await (const part of partsOf(path, names)) sheets += await countIn(part);
  } catch {
    // LibreOffice has opened the document, if with repairs: a count is missing, no more.
  }
  return sheets;
}

/** Tables inside of a table are those of its charts. */
async function countIn(part: Readable): Promise<number> {
  let depth = 0;
  let sheets = 0;
  for await (const xml of wholeTags(part)) {
    for (const [, slash, attributes = ''] of xml.matchAll(TAG)) {
      if (slash === '' && depth === 0 && !attributes.includes(FOREIGN)) sheets += 1;
      if (slash === '/') depth -= 1;
      else if (!attributes.endsWith('/')) depth += 1;
    }
  }
  return sheets;
}
