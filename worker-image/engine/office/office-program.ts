/**
 * Runs `soffice.bin`, not the script `soffice` in PATH: the script starts ten programs first, which takes a tenth of a
 * short conversion. The script also restarts the program on request, so it is the fallback.
 */
import { access, constants, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { EngineDeps } from '#worker-image/engine/handler.ts';
import { findTool } from '#worker-image/tools/find-tool.ts';
import type { Command, ToolResult } from '#worker-image/tools/run-command.ts';

/** Exit code that requests a restart, for example with a profile of another build. */
const RESTART_REQUESTED = 81;

/** Runs LibreOffice until it exits. @throws as `run` does. */
export async function runOfficeProgram(
  { run }: Pick<EngineDeps, 'run'>,
  command: Omit<Command, 'file' | 'program'>,
): Promise<ToolResult> {
  const program = join(await officeFolder(), 'soffice.bin');
  const isExecutable = await access(program, constants.X_OK).then(
    () => true,
    () => false,
  );
  if (!isExecutable) return run({ ...command, file: 'soffice' });
  const result = await run({ ...command, file: 'soffice', program });
  return result.exitCode === RESTART_REQUESTED ? run({ ...command, file: 'soffice' }) : result;
}

/** Returns the folder of the program and its build settings. @throws MissingTool. */
export async function officeFolder(): Promise<string> {
  return dirname(await realpath(await findTool('soffice')));
}
