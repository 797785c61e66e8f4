/** Runs each conversion in its own LibreOffice process and profile: two processes on one profile lose files. */
import { link, mkdir, rename, rm, stat, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { EngineDeps } from '#worker-image/engine/handler.ts';
import { writeHardenedProfile } from '#worker-image/engine/office/hardened-profile.ts';
import { runOfficeProgram } from '#worker-image/engine/office/office-program.ts';
import type { OfficeKind } from '#worker-image/engine/office/office-filters.ts';
import { convertDocument, startOffice } from '#worker-image/engine/office/start-office.ts';
import type { ToolResult } from '#worker-image/tools/run-command.ts';

interface LibreOfficeRun {
  readonly kind: OfficeKind;
  readonly path: string;
  /** Name that fields of the document show, without extension. */
  readonly name: string;
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

/** Files of one conversion. */
interface ConversionFiles {
  readonly source: string;
  readonly output: string;
}

/** Converts a document. Returns null when LibreOffice wrote none, which the exit code of its command line does not indicate. */
export async function runLibreOffice(deps: EngineDeps, conversion: LibreOfficeRun): Promise<LibreOfficeOutput | null> {
  const { directory, name, extension, target } = conversion;
  const [source, folder] = [join(directory, 'source'), join(directory, 'converted')];
  const files = { source: join(source, `${name}.${extension}`), output: join(folder, `document.${target}`) };
  await mkdir(source);
  await mkdir(folder);
  await link(conversion.path, files.source).catch(() => symlink(conversion.path, files.source));
  const served = await sendToOffice(deps, conversion, files);
  // What it wrote before it failed is no document.
  if (served?.exitCode !== 0) await rm(files.output, { force: true });
  if (served === null) {
    await runOfficeProgram(deps, directory, await argumentsOf(conversion, files));
    // Its output has the name of the source.
    await rename(join(folder, `${name}.${target}`), files.output).catch(() => undefined);
  }
  const made = await stat(files.output).then(
    (file) => file.isFile(),
    () => false,
  );
  return made ? { path: files.output, directory: folder } : null;
}

/** Converts by the process that was started ahead, otherwise by a new one. Returns null when neither can. */
async function sendToOffice(
  deps: EngineDeps,
  conversion: LibreOfficeRun,
  files: ConversionFiles,
): Promise<ToolResult | null> {
  const { directory: folder, kind, importFilter, exportFilter } = conversion;
  const office = deps.prepared ?? (await startOffice(deps.run, { folder, kind: null }));
  if (office === null) return null;
  const urls = { source: pathToFileURL(files.source).href, output: pathToFileURL(files.output).href };
  const filters = { import: importFilter, export: exportFilter };
  try {
    return await convertDocument(office, { folder, kind, urls, filters }, deps.signal);
  } finally {
    if (office !== deps.prepared) await office.end();
  }
}

async function argumentsOf(
  { importFilter, target, exportFilter, directory }: LibreOfficeRun,
  { source, output }: ConversionFiles,
): Promise<string[]> {
  return [
    `-env:UserInstallation=${await writeHardenedProfile(directory)}`,
    ...(importFilter === null ? [] : [`--infilter=${importFilter}`]),
    '--convert-to',
    `${target}:${exportFilter}`,
    '--outdir',
    dirname(output),
    source,
  ];
}
