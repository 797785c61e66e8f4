import type { Work } from '#worker-image/engine/handler.ts';
import { runPdfScript, type PdfDeps } from '#worker-image/engine/pdf/run-pdf-tool.ts';

/**
 * What a rewritten PDF lost of the work's input, one sentence each; empty when pages, outline, links,
 * forms, tags, attachments and text are all there.
 */
export async function compareStructure(deps: PdfDeps, work: Work, rewritten: string): Promise<string[]> {
  const { exitCode, stdout, stderr } = await runPdfScript(deps, work, {
    name: 'compare-structure',
    args: [work.input.path, rewritten],
  });
  if (exitCode !== 0) return [`the files cannot be compared: ${stderr.slice(-500)}`];
  return stdout.split('\n').filter((line) => line !== '');
}
