import { join } from 'node:path';
import type { Work } from '#worker-image/engine/handler.ts';
import { readablePdf } from '#worker-image/engine/pdf/repair-pdf.ts';
import { runPdfScript, type PdfDeps } from '#worker-image/engine/pdf/run-pdf-tool.ts';

/**
 * Compares a rewritten PDF with the input: pages, outline, links, forms, tags, attachments, text and appearance.
 * Returns one line per difference.
 */
export async function compareStructure(deps: PdfDeps, work: Work, rewritten: string): Promise<string[]> {
  const { exitCode, stdout } = await runPdfScript(deps, work, {
    name: 'compare-structure',
    args: [await readablePdf(work), rewritten],
  });
  // The lines go into a warning for callers, where the output of a failed tool, with its paths, has no place.
  if (exitCode !== 0) return ['the files cannot be compared'];
  return stdout.split('\n').filter((line) => line !== '');
}

/** Returns the path of a file in the work's directory that exists only after it compared equal to the input. */
export function comparedPath({ directory }: Pick<Work, 'directory'>): string {
  return join(directory, 'compared.pdf');
}
