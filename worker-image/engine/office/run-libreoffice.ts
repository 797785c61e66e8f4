/** One conversion in one LibreOffice process with a profile of its own: two on one profile lose files. */
import { link, mkdir, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { EngineDeps } from '#worker-image/engine/handler.ts';
import { writeHardenedProfile } from '#worker-image/engine/office/hardened-profile.ts';
import { runOfficeProgram } from '#worker-image/engine/office/office-program.ts';

/** The slowest of real documents took minutes; a document that needs more is stuck. */
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
  /** Extension of the input's format: some filters go by it. */
  readonly extension: string;
  readonly importFilter: string | null;
  /** Extension of the target, then its filter, as `--convert-to` takes them. */
  readonly target: string;
  readonly exportFilter: string;
  /** Private. */
  readonly directory: string;
}

export interface LibreOfficeOutput {
  /** The document; pictures that the filter did not embed lie beside it. */
  readonly path: string;
  readonly directory: string;
}

/** The converted document; null when LibreOffice made none, which its exit code does not tell. */
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
