/**
 * Starts the LibreOffice process from which a process is forked for each document (`convert-document.py`, for which
 * LibreOffice needs the package python3-uno). It opens none itself unless it cannot
 * fork: then it converts one and ends.
 *
 *   starting ─→ idle ⇄ running a conversion ─→ ended
 *       ╲→ ended, cannot run the script: callers use the command line
 *
 * Its working directory is removed when it has started. A document's process has another one. So all paths of
 * LibreOffice are relative to it: each document finds its own profile and its own temporary files, and the process that
 * waits has none.
 */
import { access, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { PreparedTool } from '#worker-image/engine/handler.ts';
import {
  CONVERSION_SERVICE,
  PROFILE,
  readOnlyLayers,
  writeHardenedProfile,
} from '#worker-image/engine/office/hardened-profile.ts';
import type { OfficeKind } from '#worker-image/engine/office/office-filters.ts';
import {
  officeCommand,
  officeFolder,
  OWN_DIRECTORY,
  TIMEOUT_SECONDS,
  writeProgramFolder,
} from '#worker-image/engine/office/office-program.ts';
import { startToolServer } from '#worker-image/engine/start-tool-server.ts';
import type { RunCommand, ToolResult } from '#worker-image/tools/run-command.ts';

interface OfficeStart {
  /** Private directory, in which the process has one for its start. */
  readonly folder: string;
  /** Kind whose code is loaded while no document has come; null: none. */
  readonly kind: OfficeKind | null;
}

/** Conversion of one document. */
export interface OfficeConversion {
  /** Private directory, in which the process has one for its profile and temporary files. */
  readonly folder: string;
  readonly kind: OfficeKind;
  readonly urls: { readonly source: string; readonly output: string };
  readonly filters: { readonly import: string | null; readonly export: string };
}

const SCRIPT = join(import.meta.dirname, 'convert-document.py');
/** Library with which LibreOffice runs Python. */
const PYTHON_LOADER = 'libpythonloaderlo.so';
/** Maximum time from the first request until the process can convert, in milliseconds: a start takes half a second. */
const START_MS = 60_000;
const FACTORIES: Readonly<Record<OfficeKind, string>> = { word: 'swriter', sheet: 'scalc', presentation: 'simpress' };

const OFFICE_KINDS = Object.keys(FACTORIES) as OfficeKind[];

/** Starts the process. Null when python3-uno is not installed, or LibreOffice is another one than expected. @throws MissingTool. */
export async function startOffice(run: RunCommand, { folder, kind }: OfficeStart): Promise<PreparedTool | null> {
  const program = await officeFolder();
  if (!(await exists(join(program, PYTHON_LOADER)))) return null;
  const layers = await readOnlyLayers();
  if (layers === null) return null;
  const directory = await mkdtemp(join(folder, 'office-'));
  await writeHardenedProfile(directory, { runsConversion: true });
  const services = join(directory, 'services.rdb');
  await writeFile(services, serviceList());
  const own = pathToFileURL(join(program, 'services')).href;
  const args = [
    `-env:${layers}`,
    `-env:UserInstallation=${pathToFileURL(join(OWN_DIRECTORY, PROFILE)).href}`,
    `-env:URE_MORE_SERVICES=${pathToFileURL(services).href} <${own}>*`,
  ];
  const env = { HOME: OWN_DIRECTORY, TMPDIR: OWN_DIRECTORY, ...(kind === null ? {} : { FACTORY: FACTORIES[kind] }) };
  const command = { ...(await officeCommand(directory, args, env)), directory, timeoutSeconds: TIMEOUT_SECONDS };
  const server = startToolServer(run, { command, kinds: OFFICE_KINDS, readyWithinMs: START_MS });
  const end = async (): Promise<void> => {
    await server.end();
    await rm(directory, { recursive: true, force: true });
  };
  return { ...server, end };
}

/** Converts a document in a process and a profile of its own. Returns null when no process can be forked. */
export async function convertDocument(
  office: PreparedTool,
  { folder, kind, urls, filters }: OfficeConversion,
  signal: AbortSignal,
): Promise<ToolResult | null> {
  const directory = await mkdtemp(join(folder, 'office-'));
  await Promise.all([writeHardenedProfile(directory), writeProgramFolder(directory)]);
  const fields = [directory, FACTORIES[kind], urls.source, filters.import ?? '', urls.output, filters.export];
  return office.send(fields.join('\t'), signal);
}

/** Returns the list of LibreOffice's services in the script. */
function serviceList(): string {
  const script = pathToFileURL(SCRIPT).href;
  return [
    '<?xml version="1.0"?>',
    '<components xmlns="http://openoffice.org/2010/uno-components">',
    `<component loader="com.sun.star.loader.Python" uri="${script}">`,
    `<implementation name="${CONVERSION_SERVICE}"><service name="com.sun.star.task.Job"/></implementation>`,
    '</component></components>',
  ].join('');
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
