import type { Format } from '#crds/catalogue/formats.ts';
import type { FileReader } from '#worker-image/engine/containers/file-reader.ts';
import { readOle2Root } from '#worker-image/engine/containers/ole2.ts';
import { unsupported } from '#worker-image/engine/identify/unsupported.ts';
import { passwordRequired } from '#worker-image/engine/password-required.ts';

interface DocumentStream {
  readonly name: string;
  readonly format: Format;
  /** The stream whose first bytes show whether the document is encrypted. */
  readonly markedIn: string;
  readonly isEncrypted: (head: Buffer) => boolean;
}

const STREAMS: readonly DocumentStream[] = [
  // [MS-DOC] 2.5.2: the bit fEncrypted.
  {
    name: 'WordDocument',
    format: 'doc',
    markedIn: 'WordDocument',
    isEncrypted: (head) => ((head[11] ?? 0) & 1) === 1,
  },
  // Workbooks are often encrypted with a password that every program knows: see `isEncryptedWorkbook`.
  { name: 'Workbook', format: 'xls', markedIn: 'Workbook', isEncrypted: () => false },
  { name: 'Book', format: 'xls', markedIn: 'Book', isEncrypted: () => false },
  // [MS-PPT] 2.3.2: headerToken.
  {
    name: 'PowerPoint Document',
    format: 'ppt',
    markedIn: 'Current User',
    isEncrypted: (head) => head.length >= 16 && head.readUInt32LE(12) === 0xf3d1_c4df,
  },
];

/**
 * Returns the Office 97 to 2003 format by the streams in the root; null when the file is not OLE2.
 * @throws MediaError processing_failed for an encrypted document, unsupported_input for another OLE2 file.
 */
export async function formatOfOle2(file: FileReader): Promise<Format | null> {
  const root = await readOle2Root(file);
  if (root === null) return null;
  if (root.has('EncryptedPackage')) throw passwordRequired();
  const found = STREAMS.find(({ name }) => root.has(name));
  if (found === undefined) throw unsupported('an OLE2 file that is no Word, Excel or PowerPoint document');
  if (found.isEncrypted(await root.readHead(found.markedIn))) throw passwordRequired();
  return found.format;
}
