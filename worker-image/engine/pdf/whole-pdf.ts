/**
 * Of a PDF whose directory is damaged, MuPDF finds more than qpdf does, as viewers do. Such a file is written
 * anew by MuPDF once, and qpdf works on the copy.
 */
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Work } from '#worker-image/engine/handler.ts';
import { lockedPdf, runPdfTool, runQpdf, type PdfDeps } from '#worker-image/engine/pdf/run-pdf-tool.ts';
import type { CommandResult } from '#worker-image/tools/run-command.ts';

/** Whether what qpdf said of a file means that it could not follow the file's directory. */
export function hasDamagedDirectory({ stderr }: CommandResult): boolean {
  return /reconstruct|unable to find trailer/.test(stderr);
}

/**
 * Writes the copy, unless it has fewer pages than qpdf found by itself (0 when it found none).
 * @throws MediaError encrypted_pdf for a file whose encryption qpdf lost with the directory.
 */
export async function repairPdf(
  deps: PdfDeps,
  work: Pick<Work, 'input' | 'directory'>,
  pages: number,
): Promise<number> {
  const copy = copyOf(work);
  const { stderr } = await runPdfTool(deps, work, ['mutool', 'clean', work.input.path, copy]);
  if (stderr.includes('cannot authenticate password')) throw lockedPdf();
  const { stdout } = await runQpdf(deps, work, ['--show-npages', copy]);
  const found = Number(stdout.trim());
  if (found > 0 && found >= pages) return found;
  await rm(copy, { force: true });
  return pages;
}

/** The file that qpdf is to read: the repaired copy where there is one, else the input. */
export async function wholePdf(work: Pick<Work, 'input' | 'directory'>): Promise<string> {
  return (await isThere(copyOf(work))) ? copyOf(work) : work.input.path;
}

function copyOf({ directory }: Pick<Work, 'directory'>): string {
  return join(directory, 'repaired.pdf');
}

function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    ({ size }) => size > 0,
    () => false,
  );
}
