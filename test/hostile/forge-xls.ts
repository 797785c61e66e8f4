/** Writer of Excel 97 to 2003 workbooks. Source: [MS-XLS]. */
import { ole2 } from '#test/hostile/forge-ole2.ts';

const [BOF, EOF, SHEET, BOOKS, BOOK_NAMES, NAME] = [0x809, 0x0a, 0x85, 0x1ae, 0x17, 0x18];
const [NUMBER, FORMULA, BOOLEAN, LINK] = [0x203, 0x06, 0x205, 0x1b8];
const [GLOBALS, WORKSHEET] = [5, 0x10];
/** Reference to the workbook itself in place of the name of another file. */
const THIS_BOOK = 0x0401;
/** Built-in name of the print area. */
const PRINT_AREA = 6;
const [AREA_IN_BOOK, CELL_IN_BOOK] = [0x3b, 0x3a];
const [ERROR_TOKEN, NAME_ERROR] = [0x1c, 0x1d];
/** Class ids of a hyperlink and of a URL moniker. */
const LINK_CLASS = Buffer.from('d0c9ea79f9bace118c8200aa004ba90b', 'hex');
const URL_CLASS = Buffer.from('e0c9ea79f9bace118c8200aa004ba90b', 'hex');

interface Workbook {
  /** Rows and columns of filled cells. */
  readonly cells: readonly (readonly [row: number, column: number])[];
  /** Last row and column of the print area. */
  readonly printed?: readonly [row: number, column: number];
  /** Address or path of another workbook that a formula in A2 refers to. */
  readonly book?: string;
  /** Address of a hyperlink in A1. */
  readonly link?: string;
  /** Booleans in column A, from the first row. */
  readonly booleans?: readonly boolean[];
  /** Values in column B, from the first row, of formulas that are the error #NAME?. */
  readonly stored?: readonly number[];
}

/** Returns a workbook of one sheet. */
export function xls({ cells, printed, book, link, booleans = [], stored = [] }: Workbook): Buffer {
  const names = [
    record(BOOKS, u16(1, THIS_BOOK)),
    ...(book === undefined ? [] : [record(BOOKS, Buffer.concat([u16(1), text(`\u0001${book}`), text('A')]))]),
    record(BOOK_NAMES, book === undefined ? u16(1, 0, 0, 0) : u16(2, 0, 0, 0, 1, 0, 0)),
    ...(printed === undefined ? [] : [record(NAME, printArea(printed))]),
    record(EOF),
  ];
  const start = record(BOF, u16(0x600, GLOBALS, 0, 0, 0, 0, 0, 0));
  const sheet = (at: number): Buffer =>
    record(SHEET, Buffer.concat([u32(at), u16(0), Buffer.from([1, 0]), Buffer.from('A')]));
  const head = Buffer.concat([start, sheet(0), ...names]);
  const body = [
    record(BOF, u16(0x600, WORKSHEET, 0, 0, 0, 0, 0, 0)),
    ...cells.map(([row, column]) => record(NUMBER, Buffer.concat([u16(row, column, 0), Buffer.alloc(8)]))),
    ...booleans.map((value, row) => record(BOOLEAN, Buffer.concat([u16(row, 0, 0), Buffer.from([Number(value), 0])]))),
    ...stored.map((value, row) => record(FORMULA, errorOf(row, value))),
    ...(book === undefined ? [] : [record(FORMULA, cellElsewhere())]),
    ...(link === undefined ? [] : [record(LINK, linkTo(link))]),
    record(EOF),
  ];
  const stream = Buffer.concat([start, sheet(head.length), ...names, ...body]);
  return ole2([{ name: 'Workbook', data: Buffer.concat([stream, Buffer.alloc(Math.max(0, 4096 - stream.length))]) }]);
}

function printArea([row, column]: readonly [number, number]): Buffer {
  const formula = Buffer.concat([Buffer.from([AREA_IN_BOOK]), u16(0, 0, row, 0, column)]);
  return Buffer.concat([
    u16(0x20),
    Buffer.from([0, 1]),
    u16(formula.length, 0, 1),
    u32(0),
    Buffer.from([0, PRINT_AREA]),
    formula,
  ]);
}

/** Returns a formula in A2 that is recalculated when the file is opened. */
function cellElsewhere(): Buffer {
  const formula = Buffer.concat([Buffer.from([CELL_IN_BOOK]), u16(1, 0, 0)]);
  return Buffer.concat([u16(1, 0, 0), Buffer.alloc(8), u16(3), u32(0), u16(formula.length), formula]);
}

/** Returns a formula in column B that is an error, with the value that is stored for it. */
function errorOf(row: number, value: number): Buffer {
  const stored = Buffer.alloc(8);
  stored.writeDoubleLE(value);
  return Buffer.concat([u16(row, 1, 0), stored, u16(0), u32(0), u16(2), Buffer.from([ERROR_TOKEN, NAME_ERROR])]);
}

function linkTo(address: string): Buffer {
  const url = Buffer.from(`${address}\0`, 'utf16le');
  return Buffer.concat([u16(0, 0, 0, 0), LINK_CLASS, u32(2, 3), URL_CLASS, u32(url.length), url]);
}

/** Returns a string record: length, a flag for one byte per character, characters. */
function text(characters: string): Buffer {
  return Buffer.concat([u16(characters.length), Buffer.from([0]), Buffer.from(characters, 'latin1')]);
}

/** Returns a record of a workbook. */
export function record(type: number, data: Buffer = Buffer.alloc(0)): Buffer {
  return Buffer.concat([u16(type, data.length), data]);
}

function u16(...values: readonly number[]): Buffer {
  return Buffer.from(Uint16Array.from(values).buffer);
}

function u32(...values: readonly number[]): Buffer {
  return Buffer.from(Uint32Array.from(values).buffer);
}
