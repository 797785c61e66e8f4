/** Runs the PDF tools: qpdf, poppler and the Python scripts beside this file. */
import { join } from 'node:path';
import { MediaError } from '#crds/contract/media-error.ts';
import type { EngineDeps, Work } from '#worker-image/engine/handler.ts';
import { SCRIPT_SECONDS, type ScriptRequest } from '#worker-image/engine/pdf/start-script-server.ts';
import type { ToolResult } from '#worker-image/tools/run-command.ts';

export type PdfDeps = Pick<EngineDeps, 'run' | 'signal' | 'prepared'>;

export type PdfScript =
  | 'compress-pdf'
  | 'compare-structure'
  | 'repair-pdf'
  | 'strip-metadata'
  | 'normalize-page'
  | 'render-page';

/** Exit code of qpdf after warnings. */
const WITH_WARNINGS = 3;

/** Runs a command with the timeout of PDF tools; calls `onLine` with each line that it prints. */
export function runPdfTool(
  { run, signal }: PdfDeps,
  work: Pick<Work, 'directory'>,
  command: readonly [string, ...string[]],
  onLine?: (line: string) => void,
): Promise<ToolResult> {
  const [file, ...args] = command;
  const more = onLine === undefined ? {} : { onLine };
  return run({ file, args, directory: work.directory, signal, timeoutSeconds: SCRIPT_SECONDS, ...more });
}

/** Runs qpdf. */
export function runQpdf(deps: PdfDeps, work: Pick<Work, 'directory'>, args: readonly string[]): Promise<ToolResult> {
  return runPdfTool(deps, work, ['qpdf', ...args]);
}

/**
 * Runs a Python script, by the server that was started before, otherwise by a new process. `-I`: it imports nothing from
 * the work's directory or the environment.
 */
export async function runPdfScript(
  deps: PdfDeps,
  work: Pick<Work, 'directory'>,
  script: { name: PdfScript; args: readonly string[] },
): Promise<ToolResult> {
  const request: ScriptRequest = { script: script.name, args: script.args, directory: work.directory };
  const served = await deps.prepared?.send(JSON.stringify(request), deps.signal);
  if (served != null) return served;
  return runPdfTool(deps, work, ['python3', '-I', join(import.meta.dirname, `${script.name}.py`), ...script.args]);
}

/** Returns whether qpdf wrote its output, possibly with warnings. */
export function isQpdfSuccess({ exitCode }: ToolResult): boolean {
  return exitCode === 0 || exitCode === WITH_WARNINGS;
}

export interface CountedPages {
  /** Pages in the tree of pages; where qpdf cannot read it, the number that it declares; 0 without any. */
  readonly pages: number;
  /** The tree declares another number, or none, which misleads other tools. */
  readonly isMiscounted: boolean;
  /** What qpdf printed. */
  readonly result: ToolResult;
}

/** Counts the pages with qpdf. */
export async function findPages(deps: PdfDeps, work: Pick<Work, 'directory'>, path: string): Promise<CountedPages> {
  let listed = 0;
  const onLine = (line: string): void => {
    if (PAGE.test(line)) listed += 1;
  };
  const [result] = await Promise.all([
    runQpdf(deps, work, ['--show-npages', path]),
    runPdfTool(deps, work, ['qpdf', '--show-pages', path], onLine),
  ]);
  const text = result.stdout.trim();
  const declared = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  return { pages: listed || declared, isMiscounted: listed > 0 && listed !== declared, result };
}

const PAGE = /^page \d+:/;

/** Returns the error for a file that a tool cannot read; its cause, which is logged, has the messages of the tool. */
export function damagedPdf({ exitCode, stderr }: ToolResult): MediaError {
  return new MediaError(
    'processing_failed',
    'The PDF is damaged or not complete. Check that it opens in a viewer and send it again.',
    {
      cause: new Error(`exit code ${exitCode}: ${stderr.slice(0, 2000)}`),
    },
  );
}

/** Returns the error for a file that needs a password or a certificate. */
export function encryptedPdf(): MediaError {
  return new MediaError(
    'encrypted_pdf',
    'The PDF opens with a password or a certificate only. Save it without encryption and send it again.',
  );
}
