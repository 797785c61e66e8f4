/** How the PDF tools are started: qpdf, and the Python scripts beside this file. */
import { join } from 'node:path';
import { MediaError } from '#crds/media-error.ts';
import type { EngineDeps, Work } from '#worker-image/engine/handler.ts';
import type { CommandResult } from '#worker-image/tools/run-command.ts';

export type PdfDeps = Pick<EngineDeps, 'run' | 'signal'>;

export type PdfScript =
  | 'rewrite-images'
  | 'subset-fonts'
  | 'compare-structure'
  | 'strip-metadata'
  | 'straighten-page'
  | 'render-page';

const TOOL_SECONDS = 1800;

/** qpdf's exit code for a file that it read with warnings. */
const WITH_WARNINGS = 3;

export function runPdfTool(
  { run, signal }: PdfDeps,
  work: Pick<Work, 'directory'>,
  line: readonly [string, ...string[]],
): Promise<CommandResult> {
  const [file, ...args] = line;
  return run({ file, args, directory: work.directory, signal, timeoutSeconds: TOOL_SECONDS });
}

export function runQpdf(deps: PdfDeps, work: Pick<Work, 'directory'>, args: readonly string[]): Promise<CommandResult> {
  return runPdfTool(deps, work, ['qpdf', ...args]);
}

/** `-I`: nothing from the work's directory or the environment is imported. */
export function runPdfScript(
  deps: PdfDeps,
  work: Pick<Work, 'directory'>,
  script: { name: PdfScript; args: readonly string[] },
): Promise<CommandResult> {
  return runPdfTool(deps, work, ['python3', '-I', join(import.meta.dirname, `${script.name}.py`), ...script.args]);
}

export function isQpdfSuccess({ exitCode }: CommandResult): boolean {
  return exitCode === 0 || exitCode === WITH_WARNINGS;
}

/** The refusal of a file that a tool could not read; what the tool said is logged. */
export function damagedPdf({ exitCode, stderr }: CommandResult): MediaError {
  return new MediaError(
    'processing_failed',
    'The PDF is damaged or not complete. Check that it opens in a viewer and send it again.',
    {
      cause: new Error(`exit code ${exitCode}: ${stderr.slice(0, 2000)}`),
    },
  );
}

/** The refusal of a file that nobody opens without its password. */
export function lockedPdf(): MediaError {
  return new MediaError('encrypted_pdf', 'The PDF opens with a password only. Save it without one and send it again.');
}
