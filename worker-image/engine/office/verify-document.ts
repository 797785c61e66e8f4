/** Verifies that a written document is complete. */
import { stat } from 'node:fs/promises';
import { openPromise } from 'yauzl';
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
  if (format === 'pdf') return verifyPdf(deps, directory, path);
  const part = MAIN_PARTS[format];
  if (part !== undefined) return verifyPackage(path, part);
  // A sheet without filled cells becomes an empty CSV file.
  if ((await stat(path)).size === 0 && format !== 'csv') throw new Error(`the ${format} file is empty`);
}

async function verifyPdf(deps: EngineDeps, directory: string, path: string): Promise<void> {
  const { stdout } = await deps.run({
    file: 'qpdf',
    args: ['--show-npages', path],
    directory,
    signal: deps.signal,
    timeoutSeconds: 120,
  });
  if (!(Number(stdout.trim()) > 0)) throw new Error('the PDF has no pages');
}

async function verifyPackage(path: string, part: string): Promise<void> {
  const zip = await openPromise(path, { lazyEntries: true, autoClose: false });
  try {
    for await (const entry of zip.eachEntry()) {
      if (entry.fileName === part && entry.uncompressedSize > 0) return;
    }
  } finally {
    zip.close();
  }
  throw new Error(`the package has no ${part}`);
}
