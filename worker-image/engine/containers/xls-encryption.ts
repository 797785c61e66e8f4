import type { FileReader } from '#worker-image/engine/containers/file-reader.ts';
import { readOle2Root } from '#worker-image/engine/containers/ole2.ts';

const WRITE_PROTECT = 0x86;
const FILE_PASS = 0x2f;

/** Returns whether a workbook of Excel 2 to 2003 is encrypted, by its record FilePass. Source: [MS-XLS] 2.4.117. */
export async function isEncryptedWorkbook(file: FileReader): Promise<boolean> {
  const root = await readOle2Root(file);
  if (root === null) return hasFilePass(file.head);
  return hasFilePass(await root.readHead(root.has('Workbook') ? 'Workbook' : 'Book'));
}

/** Returns whether FilePass follows the first record, or a WriteProtect behind it. */
function hasFilePass(records: Buffer): boolean {
  for (let at = 0; at + 4 <= records.length; at += 4 + records.readUInt16LE(at + 2)) {
    const type = records.readUInt16LE(at);
    if (type === FILE_PASS) return true;
    if (at > 0 && type !== WRITE_PROTECT) return false;
  }
  return false;
}
