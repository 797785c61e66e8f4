/**
 * Repairs a PDF with a damaged cross-reference table, or whose tree of pages declares a wrong number of them: PDFium and
 * qpdf together recover more than qpdf alone. They rewrite the file once, and every tool reads the copy.
 */
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Work } from '#worker-image/engine/handler.ts';
import { encryptedPdf, findPages, runPdfScript, type PdfDeps } from '#worker-image/engine/pdf/run-pdf-tool.ts';
import type { ToolResult } from '#worker-image/tools/run-command.ts';

/** Exit code of repair-pdf.py. */
const NEEDS_PASSWORD = 3;

/** Returns whether the messages of qpdf mean that the cross-reference table is damaged. */
export function hasDamagedXref({ stderr }: ToolResult): boolean {
  return /reconstruct|unable to find trailer/.test(stderr);
}

/**
 * Writes the repaired copy and returns its number of pages. Keeps no copy with fewer pages than qpdf found in the input
 * (`pages`, 0 for none) and returns that number.
 * @throws MediaError encrypted_pdf for a file whose encryption entry qpdf did not find.
 */
export async function repairPdf(
  deps: PdfDeps,
  work: Pick<Work, 'input' | 'directory'>,
  pages: number,
): Promise<number> {
  const copy = repairedPath(work);
  const { exitCode } = await runPdfScript(deps, work, { name: 'repair-pdf', args: [work.input.path, copy] });
  if (exitCode === NEEDS_PASSWORD) throw encryptedPdf();
  const { pages: found } = await findPages(deps, work, copy);
  if (found > 0 && found >= pages) return found;
  await rm(copy, { force: true });
  return pages;
}

/** Returns the path that qpdf reads: the repaired copy if there is one, else the input. */
export async function readablePdf(work: Pick<Work, 'input' | 'directory'>): Promise<string> {
  return (await isFile(repairedPath(work))) ? repairedPath(work) : work.input.path;
}

function repairedPath({ directory }: Pick<Work, 'directory'>): string {
  return join(directory, 'repaired.pdf');
}

function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    ({ size }) => size > 0,
    () => false,
  );
}
