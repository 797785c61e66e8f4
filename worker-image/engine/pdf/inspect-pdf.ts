import type { Facts, Work } from '#worker-image/engine/handler.ts';
import { refuseDecompressionBomb } from '#worker-image/engine/pdf/refuse-decompression-bomb.ts';
import { damagedPdf, encryptedPdf, findPages, runQpdf, type PdfDeps } from '#worker-image/engine/pdf/run-pdf-tool.ts';
import { hasDamagedXref, repairPdf } from '#worker-image/engine/pdf/repair-pdf.ts';
import type { ToolResult } from '#worker-image/tools/run-command.ts';

export interface PdfFacts extends Facts {
  readonly pages: number;
}

/** Exit code of `qpdf --requires-password`: 0 when a password is needed, 3 when an encrypted file opens without, else 2. */
const NEEDS_PASSWORD = 0;

/**
 * Counts the pages. A file with an owner password only opens without it.
 * @throws MediaError encrypted_pdf, processing_failed.
 */
export async function inspectPdf(deps: PdfDeps, work: Pick<Work, 'input' | 'directory'>): Promise<PdfFacts> {
  await refuseDecompressionBomb(work.input.path, deps.signal);
  const { pages, isMiscounted, result } = await findPages(deps, work, work.input.path);
  if (pages < 1) await refuseEncryption(deps, work, result);
  const isDamaged = pages < 1 || isMiscounted || hasDamagedXref(result);
  const whole = isDamaged ? await repairPdf(deps, work, pages) : pages;
  if (whole < 1) throw damagedPdf(result);
  return { pages: whole };
}

/** What qpdf says of a file that is encrypted for the owners of certificates. */
const NEEDS_CERTIFICATE = /unsupported encryption filter/;

async function refuseEncryption(
  deps: PdfDeps,
  work: Pick<Work, 'input' | 'directory'>,
  { stderr }: ToolResult,
): Promise<void> {
  if (NEEDS_CERTIFICATE.test(stderr)) throw encryptedPdf();
  const { exitCode } = await runQpdf(deps, work, ['--requires-password', work.input.path]);
  if (exitCode === NEEDS_PASSWORD) throw encryptedPdf();
}

/** Returns the number of pages. @throws MediaError processing_failed when no page is found. */
export async function countPages(deps: PdfDeps, work: Pick<Work, 'directory'>, path: string): Promise<number> {
  const { pages, result } = await findPages(deps, work, path);
  if (pages < 1) throw damagedPdf(result);
  return pages;
}
