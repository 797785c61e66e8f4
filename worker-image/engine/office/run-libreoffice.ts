/** Runs each conversion in its own LibreOffice process and profile: two processes on one profile lose files. */
import { link, mkdir, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { EngineDeps } from '#worker-image/engine/handler.ts';
import { writeHardenedProfile } from '#worker-image/engine/office/hardened-profile.ts';
import { runOfficeProgram } from '#worker-image/engine/office/office-program.ts';

/** Timeout of a conversion, in seconds: the slowest real documents took minutes. */
const TIMEOUT_SECONDS = 20 * 60;

const QUIET = [
  '--headless',
  '--invisible',
  '--nologo',
  '--norestore',
  '--nodefault',
  '--nolockcheck',
  '--nofirststartwizard',
];

interface LibreOfficeRun {
  readonly path: string;
  /** Extension of the input format, which some filters depend on. */
  readonly extension: string;
  readonly importFilter: string | null;
  /** Extension of the target format. */
  readonly target: string;
  readonly exportFilter: string;
  /** Private directory. */
  readonly directory: string;
}

export interface LibreOfficeOutput {
  /** Path of the document; images that the filter did not embed are in the same directory. */
  readonly path: string;
  readonly directory: string;
}

/** Converts a document. Returns null when LibreOffice wrote none, which its exit code does not indicate. */
export async function runLibreOffice(deps: EngineDeps, conversion: LibreOfficeRun): Promise<LibreOfficeOutput | null> {
  const { directory, extension, target } = conversion;
  const output = join(directory, 'converted');
  const source = join(directory, `document.${extension}`);
  const profile = await writeHardenedProfile(directory);
  await mkdir(output);
  await link(conversion.path, source).catch(() => symlink(conversion.path, source));
  await runOfficeProgram(deps, {
    args: argumentsOf(conversion, { profile, output, source }),
    directory,
    signal: deps.signal,
    timeoutSeconds: TIMEOUT_SECONDS,
  });
  const path = join(output, `document.${target}`);
  const made = await stat(path).then(
    (file) => file.isFile(),
    () => false,
  );
  return made ? { path, directory: output } : null;
}

function argumentsOf(
  { importFilter, target, exportFilter }: LibreOfficeRun,
  { profile, output, source }: { profile: string; output: string; source: string },
): string[] {
  return [
    ...QUIET,
    `-env:UserInstallation=${profile}`,
    ...(importFilter === null ? [] : [`--infilter=${importFilter}`]),
    '--convert-to',
    `${target}:${exportFilter}`,
    '--outdir',
    output,
    source,
  ];
}
