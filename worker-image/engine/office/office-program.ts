/**
 * Runs `soffice.bin`, not the script `soffice` in PATH: the script starts ten programs first, which takes a tenth of a
 * short conversion. The script also restarts the program on request, so it is the fallback.
 */
import { access, constants, mkdir, realpath, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { EngineDeps } from '#worker-image/engine/handler.ts';
import { findTool } from '#worker-image/tools/find-tool.ts';
import type { Command, ToolResult } from '#worker-image/tools/run-command.ts';

/** Exit code that requests a restart, for example with a profile of another build. */
const RESTART_REQUESTED = 81;
/** Timeout of a conversion, in seconds: the slowest real documents took minutes. */
export const TIMEOUT_SECONDS = 20 * 60;
/** Working directory of the process that opens the path. */
export const OWN_DIRECTORY = '/proc/self/cwd';
const PROGRAMS = 'programs';
const QUIET = [
  '--headless',
  '--invisible',
  '--nologo',
  '--norestore',
  '--nodefault',
  '--nolockcheck',
  '--nofirststartwizard',
];
/** Setting of the start: no compressed copy of the profile, which serves to repair it later. */
const WITHOUT_PROFILE_COPY = '-env:SecureUserConfig=false';
/** glibc's allocator grows the heap in large steps and keeps it: LibreOffice allocates in small pieces and ends soon. */
const ALLOCATOR = {
  MALLOC_TOP_PAD_: String(64 * 1024 ** 2),
  MALLOC_TRIM_THRESHOLD_: String(256 * 1024 ** 2),
};

/** Configuration of fontconfig, which chooses the fonts of a document that names fonts that are not installed. */
const FONTS = { FONTCONFIG_FILE: join(import.meta.dirname, 'fonts.conf') };

/** Runs LibreOffice by its command line until it exits. @throws as `run` does. */
export async function runOfficeProgram(
  { run, signal }: Pick<EngineDeps, 'run' | 'signal'>,
  directory: string,
  args: readonly string[],
): Promise<ToolResult> {
  const limits = { directory, signal, timeoutSeconds: TIMEOUT_SECONDS };
  const script = { ...limits, file: 'soffice', args: [...QUIET, ...args] };
  const isExecutable = await access(await programFile(), constants.X_OK).then(
    () => true,
    () => false,
  );
  if (!isExecutable) return run(script);
  const result = await run({ ...limits, ...(await officeCommand(directory, args)) });
  return result.exitCode === RESTART_REQUESTED ? run(script) : result;
}

/** Returns the command that starts `soffice.bin` in the directory, without programs that no conversion needs. */
export async function officeCommand(
  directory: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Pick<Command, 'file' | 'program' | 'env' | 'args'>> {
  await writeProgramFolder(directory);
  return {
    file: 'soffice',
    program: await findTool('env'),
    args: [`PATH=${join(OWN_DIRECTORY, PROGRAMS)}`, await programFile(), WITHOUT_PROFILE_COPY, ...QUIET, ...args],
    env: { ...ALLOCATOR, ...FONTS, ...env },
  };
}

async function programFile(): Promise<string> {
  return join(await officeFolder(), 'soffice.bin');
}

/**
 * Writes the folder that is the PATH of `soffice.bin` in the directory. It has `paperconf` alone, which tells the default
 * paper where it is installed. With GnuPG in PATH each start of LibreOffice starts six of its programs, to prepare for
 * signatures.
 */
export async function writeProgramFolder(directory: string): Promise<void> {
  const folder = join(directory, PROGRAMS);
  await mkdir(folder, { recursive: true });
  const paperconf = await findTool('paperconf').catch(() => null);
  if (paperconf !== null) await symlink(paperconf, join(folder, 'paperconf'));
}

/** Returns the folder of the program and its build settings. @throws MissingTool. */
export async function officeFolder(): Promise<string> {
  return dirname(await realpath(await findTool('soffice')));
}
