import { rename } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { makeRunCommand } from '#worker-image/tools/run-command.ts';

const run = makeRunCommand();

/** Runs a tool in the folder. @throws Error with its output, for an exit code other than 0. */
export async function runTool(directory: string, file: string, args: readonly string[]): Promise<void> {
  const { signal } = new AbortController();
  const { exitCode, stderr, stdout } = await run({ file, args, directory, signal, timeoutSeconds: 180 });
  if (exitCode !== 0) throw new Error(`${file} ended with ${exitCode}: ${stderr || stdout}`);
}

/** Converts a document in the folder and returns the new file's path. `filter` is LibreOffice's. */
export async function office(directory: string, source: string, filter: string): Promise<string> {
  const profile = `-env:UserInstallation=file://${join(directory, 'profile')}`;
  await runTool(directory, 'soffice', [profile, '--headless', '--convert-to', filter, '--outdir', 'office', source]);
  const name = `${basename(source, extname(source))}.${filter.split(':')[0]}`;
  await rename(join(directory, 'office', name), join(directory, name));
  return join(directory, name);
}
