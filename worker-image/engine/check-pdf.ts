import type { EngineDeps } from '#worker-image/engine/handler.ts';

/** Maximum duration of a check, in seconds: qpdf decompresses every stream. */
const CHECK_SECONDS = 300;

/** Has qpdf read a whole PDF that the service wrote. @throws Error when it finds a fault. */
export async function checkPdf(
  { run, signal }: Pick<EngineDeps, 'run' | 'signal'>,
  directory: string,
  path: string,
): Promise<void> {
  const timeoutSeconds = CHECK_SECONDS;
  const { exitCode, stdout, stderr } = await run({
    file: 'qpdf',
    args: ['--check', path],
    directory,
    signal,
    timeoutSeconds,
  });
  if (exitCode === 0) return;
  // Callers may see the message: the tool's output, with its paths, is the cause.
  const cause = new Error(`${stdout.slice(0, 500)} ${stderr.slice(0, 500)}`);
  throw new Error('The PDF output has faults.', { cause });
}
