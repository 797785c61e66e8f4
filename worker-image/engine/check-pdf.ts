import { readFile, stat } from 'node:fs/promises';
import { checkStreams } from '#worker-image/engine/containers/pdf-streams.ts';
import type { EngineDeps } from '#worker-image/engine/handler.ts';

/** Maximum duration of a check, in seconds: qpdf may decompress every stream. */
const CHECK_SECONDS = 300;
/** Maximum size of a file that is read into memory, in bytes. */
const MAX_BYTES_IN_MEMORY = 64 * 1024 ** 2;
/** Where qpdf writes a file again, for which it reads every object. */
const NOWHERE = '/dev/null';

type CheckDeps = Pick<EngineDeps, 'run' | 'signal'>;

/**
 * Reads a whole PDF that the service wrote: qpdf its objects and pages, this process its streams. `qpdf --check` also parses
 * what the pages draw, which takes ten times as long, and compares no checksums.
 * @throws Error when there is a fault or no page.
 */
export async function checkPdf(deps: CheckDeps, directory: string, path: string): Promise<void> {
  const qpdf = (...args: string[]): Promise<string> => runQpdf(deps, directory, args);
  const isRead = (await stat(path)).size <= MAX_BYTES_IN_MEMORY && checkStreams(await readFile(path));
  await (isRead ? qpdf('--stream-data=preserve', path, NOWHERE) : qpdf('--check', path));
  const pages = Number(/^\d+$/m.exec(await qpdf('--show-npages', path))?.[0] ?? 0);
  if (pages === 0) throw new Error('The PDF output has no pages.');
}

/** Returns the output of qpdf. @throws Error when it finds a fault. */
async function runQpdf({ run, signal }: CheckDeps, directory: string, args: readonly string[]): Promise<string> {
  const limits = { directory, signal, timeoutSeconds: CHECK_SECONDS };
  const { exitCode, stdout, stderr } = await run({ file: 'qpdf', args, ...limits });
  if (exitCode === 0) return stdout;
  // Callers may see the message: the tool's output, with its paths, is the cause.
  const cause = new Error(`${stdout.slice(0, 500)} ${stderr.slice(0, 500)}`);
  throw new Error('The PDF output has faults.', { cause });
}
