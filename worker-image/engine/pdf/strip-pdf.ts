import { join } from 'node:path';
import type { EngineDeps, Produced, Work } from '#worker-image/engine/handler.ts';
import type { PdfFacts } from '#worker-image/engine/pdf/inspect-pdf.ts';
import { readPdfMarks } from '#worker-image/engine/pdf/pdf-marks.ts';
import { damagedPdf, runPdfScript } from '#worker-image/engine/pdf/run-pdf-tool.ts';
import { readablePdf } from '#worker-image/engine/pdf/repair-pdf.ts';

const SIGNED_WARNING = 'The PDF is signed: the rewritten file looks the same, but its signature is no longer valid.';

/**
 * Removes title, author, software, dates and XMP; pages and content stay (docs/reference/formats.md#pdf).
 * @throws MediaError processing_failed.
 */
export async function stripPdf(deps: EngineDeps, work: Work, facts: PdfFacts): Promise<Produced> {
  const path = join(work.directory, 'stripped.pdf');
  const result = await runPdfScript(deps, work, { name: 'strip-metadata', args: [await readablePdf(work), path] });
  if (result.exitCode !== 0) throw damagedPdf(result);
  const { isSigned } = await readPdfMarks(deps, work);
  return { path, format: 'pdf', facts, warnings: isSigned ? [SIGNED_WARNING] : [] };
}
