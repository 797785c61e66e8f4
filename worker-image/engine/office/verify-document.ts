/** Verifies that a written document is complete. */
import { stat } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { openPromise } from 'yauzl';
import { checkPdf } from '#worker-image/engine/check-pdf.ts';
import type { EngineDeps, Produced } from '#worker-image/engine/handler.ts';

/** Entry that every package of the format has. */
const MAIN_PARTS: Readonly<Record<string, string>> = {
  docx: 'word/document.xml',
  xlsx: 'xl/workbook.xml',
  pptx: 'ppt/presentation.xml',
  odt: 'content.xml',
  ods: 'content.xml',
  odp: 'content.xml',
};

/** Opens the document. @throws Error that names what is missing. */
export async function verifyDocument(deps: EngineDeps, directory: string, produced: Produced): Promise<void> {
  const { path, format } = produced;
  if (format === 'pdf') return checkPdf(deps, directory, path);
  const part = MAIN_PARTS[format];
  if (part !== undefined) return verifyPackage(path, part, deps.signal);
  // A sheet without filled cells becomes an empty CSV file.
  if ((await stat(path)).size === 0 && format !== 'csv') throw new Error(`the ${format} file is empty`);
}

/** Decompresses every part and compares its checksum: programs repair a package by dropping damaged parts. */
async function verifyPackage(path: string, mainPart: string, signal: AbortSignal): Promise<void> {
  const zip = await openPromise(path, { lazyEntries: true, autoClose: false });
  let hasMainPart = false;
  try {
    for await (const entry of zip.eachEntry()) {
      signal.throwIfAborted();
      hasMainPart ||= entry.fileName === mainPart && entry.uncompressedSize > 0;
      const { fileName } = await zip.readLocalFileHeaderPromise(entry);
      if (!fileName.equals(entry.fileNameRaw))
        throw new Error(`the part ${entry.fileName} has another name in its header`);
      let checksum = 0;
      for await (const chunk of await zip.openReadStreamPromise(entry)) checksum = crc32(chunk as Buffer, checksum);
      if (checksum !== entry.crc32) throw new Error(`the part ${entry.fileName} is damaged`);
    }
  } finally {
    zip.close();
  }
  if (!hasMainPart) throw new Error(`the package has no ${mainPart}`);
}
