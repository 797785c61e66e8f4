/** Writes a workbook of one sheet, row by row. Every cell is text, never a formula, number or date. */
import { strToU8, Zip, ZipDeflate } from 'fflate';
import { MediaError } from '#crds/contract/media-error.ts';
import { refuseWide, type TableRow, type TableRows } from '#worker-image/engine/table/table-row.ts';

/** Limits of Excel. */
const MAX_ROWS = 1_048_576;
const MAX_CELL_CHARS = 32_767;
/** Maximum size of the sheet, in bytes: above it a ZIP entry needs ZIP64, which not every reader supports. */
const MAX_SHEET_BYTES = 0xfffe_0000;
/** Approximate length of the pieces that are compressed, in characters. */
const PIECE_CHARS = 128 * 1024;

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const OPEN_XML = 'http://schemas.openxmlformats.org';
const MAIN = `${OPEN_XML}/spreadsheetml/2006/main`;
const RELATIONS = `${OPEN_XML}/officeDocument/2006/relationships`;
const PACKAGE = `${OPEN_XML}/package/2006`;
const SHEET_TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

const PARTS: Readonly<Record<string, string>> = {
  '[Content_Types].xml': `${XML}<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${SHEET_TYPE}.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="${SHEET_TYPE}.worksheet+xml"/></Types>`,
  '_rels/.rels': `${XML}<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
  'xl/workbook.xml': `${XML}<workbook xmlns="${MAIN}" xmlns:r="${RELATIONS}"><sheets><sheet name="Sheet1" sheetId="1" r:id="rId1"/></sheets></workbook>`,
  'xl/_rels/workbook.xml.rels': `${XML}<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${RELATIONS}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`,
};

export const SHEET_PART = 'xl/worksheets/sheet1.xml';

/** Yields the bytes of the workbook. @throws MediaError limit_exceeded for a table over the limits of Excel. */
export async function* writeXlsx(rows: TableRows): AsyncGenerator<Uint8Array> {
  let ready: Uint8Array[] = [];
  const zip = new Zip((error, data) => {
    if (error !== null) throw error;
    ready.push(data);
  });
  for (const [name, text] of Object.entries(PARTS)) add(zip, name).push(strToU8(text), true);
  const sheet = add(zip, SHEET_PART);
  let bytes = 0;
  for await (const piece of sheetPieces(rows)) {
    const data = strToU8(piece);
    bytes += data.length;
    refuseOver(bytes, MAX_SHEET_BYTES, 'bytes of cells');
    sheet.push(data);
    yield* ready;
    ready = [];
  }
  sheet.push(new Uint8Array(0), true);
  zip.end();
  yield* ready;
}

function add(zip: Zip, name: string): ZipDeflate {
  const part = new ZipDeflate(name, { level: 6 });
  zip.add(part);
  return part;
}

async function* sheetPieces(rows: TableRows): AsyncGenerator<string> {
  let piece = `${XML}<worksheet xmlns="${MAIN}"><sheetData>`;
  let number = 0;
  for await (const row of rows) {
    number += 1;
    refuseOver(number, MAX_ROWS, 'rows');
    piece += rowXml(refuseWide(row), number);
    if (piece.length < PIECE_CHARS) continue;
    yield piece;
    piece = '';
  }
  yield `${piece}</sheetData></worksheet>`;
}

function rowXml(row: TableRow, number: number): string {
  const cells = row.map((text, column) => {
    if (text === '') return '';
    refuseOver(text.length, MAX_CELL_CHARS, 'characters in a cell');
    return `<c r="${columnName(column)}${number}" t="inlineStr"><is><t xml:space="preserve">${xmlText(text)}</t></is></c>`;
  });
  return `<row r="${number}">${cells.join('')}</row>`;
}

/** Returns A, B … Z, AA … */
function columnName(column: number): string {
  let name = '';
  for (let rest = column; rest >= 0; rest = Math.floor(rest / 26) - 1)
    name = String.fromCharCode(65 + (rest % 26)) + name;
  return name;
}

/** Escapes text for XML, and control characters as Excel does (`_x0001_`). Text that already looks like such an escape is escaped as well. */
function xmlText(text: string): string {
  return (
    text
      .toWellFormed()
      .replaceAll(/_(?=x[\dA-Fa-f]{4}_)/g, '_x005F_')
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      // eslint-disable-next-line no-control-regex
      .replaceAll(
        /[\x00-\x08\x0b-\x1f\ufffe\uffff]/g,
        (char) => `_x${char.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`,
      )
  );
}

function refuseOver(value: number, limit: number, what: string): void {
  if (value <= limit) return;
  throw new MediaError(
    'limit_exceeded',
    `The table has ${value} ${what}; the maximum of xlsx is ${limit}. Split it, or convert to csv.`,
  );
}
