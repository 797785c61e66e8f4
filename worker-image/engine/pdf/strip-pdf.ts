import { join } from 'node:path';
import type { EngineDeps, Facts, Produced, Work } from '#worker-image/engine/handler.ts';
import { isSigned } from '#worker-image/engine/pdf/is-signed.ts';
import { damagedPdf, runPdfScript } from '#worker-image/engine/pdf/run-pdf-tool.ts';
import { wholePdf } from '#worker-image/engine/pdf/whole-pdf.ts';

const SIGNED_WARNING = 'The PDF is signed: the rewritten file shows the same, but its signature is no longer valid.';

/**
 * Rewrites the PDF without title, author, software, dates and XMP; pages and content stay.
 * Spec: POST /v1/strip-metadata.
 * @throws MediaError processing_failed.
 */
export async function stripPdf(deps: EngineDeps, work: Work, facts: Facts): Promise<Produced> {
  const path = join(work.directory, 'stripped.pdf');
  const result = await runPdfScript(deps, work, { name: 'strip-metadata', args: [await wholePdf(work), path] });
  if (result.exitCode !== 0) throw damagedPdf(result);
  return { path, format: 'pdf', facts, warnings: (await isSigned(deps, work)) ? [SIGNED_WARNING] : [] };
}
