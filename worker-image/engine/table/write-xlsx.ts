/** Writes a workbook of one sheet, row by row. Every cell is text, never a formula, number or date. */
import { promisify } from 'node:util';
import { constants, crc32, deflateRaw } from 'node:zlib';
import { strToU8, Zip, ZipDeflate, type ZipInputFile } from 'fflate';
import { MediaError } from '#crds/contract/media-error.ts';
import type { RowBatch, TableRows } from '#worker-image/engine/table/row-batch.ts';
import { Escapes } from '#worker-image/engine/table/text-buffer.ts';
import { writeRows, type RowFormat } from '#worker-image/engine/table/write-rows.ts';

/** Limits of Excel. */
const MAX_ROWS = 1_048_576;
const MAX_CELL_CHARS = 32_767;
/** Maximum size of the sheet, in bytes: above it a ZIP entry needs ZIP64, which not every reader supports. */
const MAX_SHEET_BYTES = 0xfffe_0000;
/** Method of a ZIP entry. */
const DEFLATED = 8;
const LEVEL = 6;
/** Maximum distance of a repetition from its original in a deflate stream, in bytes. */
const MAX_DISTANCE = 32 * 1024;
/** Last block of a deflate stream, without data. */
const LAST_BLOCK = Uint8Array.of(3, 0);

const deflate = promisify(deflateRaw);

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

const ROW_START = Buffer.from('<row r="');
const TAG_END = Buffer.from('">');
const ROW_END = Buffer.from('</row>');
const TEXT_START = Buffer.from('" t="inlineStr"><is><t xml:space="preserve">');
const TEXT_END = Buffer.from('</t></is></c>');
const UNDERSCORE = 0x5f;
const XML_ESCAPES = xmlEscapes();

/** Yields the bytes of the workbook. @throws MediaError limit_exceeded for a table over the limits of Excel. */
export async function* writeXlsx(rows: TableRows): AsyncGenerator<Uint8Array> {
  const ready: Uint8Array[] = [];
  const zip = new Zip((error, data) => {
    if (error !== null) throw error;
    ready.push(data);
  });
  for (const [name, text] of Object.entries(PARTS)) {
    const part = new ZipDeflate(name, { level: LEVEL });
    zip.add(part);
    part.push(strToU8(text), true);
  }
  const sheet: ZipInputFile = { filename: SHEET_PART, compression: DEFLATED, crc: 0, size: 0 };
  zip.add(sheet);
  for await (const data of compressed(measured(writeRows(rows, sheetFormat()), sheet))) {
    sheet.ondata?.(null, data, false);
    yield* ready.splice(0);
  }
  sheet.ondata?.(null, LAST_BLOCK, true);
  zip.end();
  yield* ready;
}

/** Yields the pieces, and sets size and checksum of the entry. */
async function* measured(pieces: AsyncIterable<Uint8Array>, entry: ZipInputFile): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    entry.crc = crc32(piece, entry.crc);
    entry.size += piece.length;
    refuseOver(entry.size, MAX_SHEET_BYTES, 'bytes of cells');
    yield piece;
  }
}

/** Compresses pieces, each in another thread while the next one is made. */
async function* compressed(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let [pending, dictionary] = [Promise.resolve(Buffer.alloc(0)), new Uint8Array(0)];
  for await (const piece of pieces) {
    const data = await pending;
    pending = deflate(piece, { level: LEVEL, finishFlush: constants.Z_SYNC_FLUSH, dictionary });
    dictionary = piece.slice(-MAX_DISTANCE);
    yield data;
  }
  yield pending;
}

function sheetFormat(): RowFormat {
  /** Start of a cell, by column. */
  const starts: Buffer[] = [];
  return {
    start: `${XML}<worksheet xmlns="${MAIN}"><sheetData>`,
    writeRow: (out, batch, row, index) => {
      refuseOver(index + 1, MAX_ROWS, 'rows');
      const number = Buffer.from(String(index + 1));
      out.append(ROW_START);
      out.append(number);
      out.append(TAG_END);
      const [first = 0, end = 0] = [batch.firstCells[row], batch.firstCells[row + 1]];
      for (let cell = first; cell < end; cell += 1) {
        if (batch.starts[cell] === batch.ends[cell]) continue;
        refuseLongCell(batch, cell);
        out.append((starts[cell - first] ??= Buffer.from(`<c r="${columnName(cell - first)}`)));
        out.append(number);
        out.append(TEXT_START);
        out.appendEscaped(batch.bytes, batch.starts[cell] ?? 0, batch.ends[cell] ?? 0, XML_ESCAPES);
        out.append(TEXT_END);
      }
      out.append(ROW_END);
    },
    end: () => '</sheetData></worksheet>',
  };
}

function refuseLongCell(batch: RowBatch, cell: number): void {
  const bytes = (batch.ends[cell] ?? 0) - (batch.starts[cell] ?? 0);
  if (bytes > MAX_CELL_CHARS) refuseOver(batch.textOf(cell).length, MAX_CELL_CHARS, 'characters in a cell');
}

/** Returns A, B … Z, AA … */
function columnName(column: number): string {
  let name = '';
  for (let rest = column; rest >= 0; rest = Math.floor(rest / 26) - 1)
    name = String.fromCharCode(65 + (rest % 26)) + name;
  return name;
}

/** Returns the replacements of XML, and of control characters as in Excel (`_x0001_`). Text that already looks like one of these is escaped as well. */
function xmlEscapes(): Escapes {
  const controls = Array.from({ length: 0x20 }, (_, code) => String.fromCharCode(code)).filter(
    (char) => char !== '\t' && char !== '\n',
  );
  const escapes = new Escapes({
    ...Object.fromEntries(controls.map((char) => [char, excelEscape(char)])),
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
  });
  const underscore = { bytes: Buffer.from(excelEscape('_')), length: 1 };
  escapes.addSequence(UNDERSCORE, (source, at, to) => (looksEscaped(source, at, to) ? underscore : null));
  const noncharacters = ['\ufffe', '\uffff'].map((char) => ({
    bytes: Buffer.from(excelEscape(char)),
    length: 3,
    source: Buffer.from(char),
  }));
  escapes.addSequence(0xef, (rest, at) => {
    const found = noncharacters.find(({ source }) => source[1] === rest[at + 1] && source[2] === rest[at + 2]);
    return found ?? null;
  });
  return escapes;
}

function looksEscaped(source: Uint8Array, at: number, to: number): boolean {
  return at + 7 <= to && /^_x[\dA-Fa-f]{4}_$/.test(String.fromCharCode(...source.subarray(at, at + 7)));
}

function excelEscape(char: string): string {
  return `_x${char.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`;
}

function refuseOver(value: number, limit: number, what: string): void {
  if (value <= limit) return;
  throw new MediaError(
    'limit_exceeded',
    `The table has ${value} ${what}; the maximum of xlsx is ${limit}. Split it, or convert to csv.`,
  );
}
