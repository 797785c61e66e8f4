/**
 * LibreOffice's own program. What PATH has is a script: it starts ten programs before this one, which takes a tenth
 * of a short conversion, and starts it again when it asks for that.
 */
import { access, constants, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { EngineDeps } from '#worker-image/engine/handler.ts';
import { findTool } from '#worker-image/tools/find-tool.ts';
import type { Command, CommandResult } from '#worker-image/tools/run-command.ts';

/** Exit code by which it asks to be started again, as with a profile of another build. */
const START_AGAIN = 81;

/** Runs it to its end. @throws as `run` does. */
export async function runOfficeProgram(
  { run }: Pick<EngineDeps, 'run'>,
  command: Omit<Command, 'file' | 'program'>,
): Promise<CommandResult> {
  const program = join(await officeFolder(), 'soffice.bin');
  const isThere = await access(program, constants.X_OK).then(
    () => true,
    () => false,
  );
  if (!isThere) return run({ ...command, file: 'soffice' });
  const result = await run({ ...command, file: 'soffice', program });
  return result.exitCode === START_AGAIN ? run({ ...command, file: 'soffice' }) : result;
}

/** The folder that the program lies in, with the settings of its build. @throws MissingTool. */
export async function officeFolder(): Promise<string> {
  return dirname(await realpath(await findTool('soffice')));
}
