import type { FileReader } from '#worker-image/engine/containers/file-reader.ts';
import { readOle2Root } from '#worker-image/engine/containers/ole2.ts';

const END = 0x0a;
const BOUND_SHEET = 0x85;
/** Kind of a sheet that is a module of macros and has no cells. */
const MACRO_MODULE = 6;
/** Bits of the state of a sheet: hidden, or hidden so that only a macro shows it. */
const HIDDEN_STATES = 3;
/** Length of the start of a workbook that has the list of its sheets, in bytes: fonts and cell styles precede it. */
const START_BYTES = 1024 ** 2;

export interface XlsSheets {
  readonly all: number;
  readonly hidden: number;
}

/** Returns the numbers of sheets of an Excel 5 to 2003 workbook, 0 for other versions. Source: [MS-XLS] 2.4.28. */
export async function countXlsSheets(file: FileReader): Promise<XlsSheets> {
  const root = await readOle2Root(file);
  let [all, hidden] = [0, 0];
  if (root === null) return { all, hidden };
  const records = await root.readStart(root.has('Workbook') ? 'Workbook' : 'Book', START_BYTES);
  for (let at = 0; at + 4 <= records.length; at += 4 + records.readUInt16LE(at + 2)) {
    const type = records.readUInt16LE(at);
    if (type === END) break;
    if (type !== BOUND_SHEET || records[at + 9] === MACRO_MODULE) continue;
    all += 1;
    if (((records[at + 8] ?? 0) & HIDDEN_STATES) !== 0) hidden += 1;
  }
  return { all, hidden };
}
