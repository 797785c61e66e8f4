import type { EngineDeps } from '#worker-image/engine/handler.ts';

/** Maximum duration of a check, in seconds: qpdf decompresses every stream. */
const CHECK_SECONDS = 300;

/** Has qpdf read a whole PDF that the service wrote. @throws Error when it finds a fault or no page. */
export async function checkPdf(
  { run, signal }: Pick<EngineDeps, 'run' | 'signal'>,
  directory: string,
  path: string,
): Promise<void> {
  const { exitCode, stdout, stderr } = await run({
    file: 'qpdf',
    args: ['--check', '--show-npages', path],
    directory,
    signal,
    timeoutSeconds: CHECK_SECONDS,
  });
  const pages = Number(/^\d+$/m.exec(stdout)?.[0] ?? 0);
  if (exitCode === 0 && pages === 0) throw new Error('The PDF output has no pages.');
  if (exitCode === 0) return;
  // Callers may see the message: the tool's output, with its paths, is the cause.
  const cause = new Error(`${stdout.slice(0, 500)} ${stderr.slice(0, 500)}`);
  throw new Error('The PDF output has faults.', { cause });
}
