import { NO_FACTS, type Facts, type Work } from '#worker-image/engine/handler.ts';
import { refuseStreamBomb } from '#worker-image/engine/pdf/refuse-stream-bomb.ts';
import { damagedPdf, lockedPdf, runQpdf, type PdfDeps } from '#worker-image/engine/pdf/run-pdf-tool.ts';
import { hasDamagedDirectory, repairPdf } from '#worker-image/engine/pdf/whole-pdf.ts';

/** `qpdf --requires-password`: 0 when a password is needed, 3 when it is encrypted but opens without, 2 otherwise. */
const NEEDS_PASSWORD = 0;

/**
 * Counts the pages. A file whose owner password alone is set opens.
 * @throws MediaError encrypted_pdf, processing_failed.
 */
export async function inspectPdf(deps: PdfDeps, work: Pick<Work, 'input' | 'directory'>): Promise<Facts> {
  await refuseStreamBomb(work.input.path, deps.signal);
  const { exitCode } = await runQpdf(deps, work, ['--requires-password', work.input.path]);
  if (exitCode === NEEDS_PASSWORD) throw lockedPdf();
  const result = await runQpdf(deps, work, ['--show-npages', work.input.path]);
  const pages = Number(result.stdout.trim()) || 0;
  const whole = pages < 1 || hasDamagedDirectory(result) ? await repairPdf(deps, work, pages) : pages;
  if (whole < 1) throw damagedPdf(result);
  return { ...NO_FACTS, pages: whole };
}

/** @throws MediaError processing_failed when the file has no page that can be found. */
export async function countPages(deps: PdfDeps, work: Pick<Work, 'directory'>, path: string): Promise<number> {
  const result = await runQpdf(deps, work, ['--show-npages', path]);
  const pages = Number(result.stdout.trim());
  if (!Number.isInteger(pages) || pages < 1) throw damagedPdf(result);
  return pages;
}
