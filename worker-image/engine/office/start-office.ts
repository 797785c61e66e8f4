/**
 * Starts LibreOffice before its document is known: the process waits for one, converts it and ends. It runs
 * `convert-document.py`, for which LibreOffice needs the package python3-uno.
 *
 *   starting ─→ waiting ─→ converting ─→ ended
 *       ╲          ╲→ ended without a document
 *        ╲→ ended, cannot run the script: callers use the command line
 */
import { access, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { PreparedTool } from '#worker-image/engine/handler.ts';
import { CONVERSION_SERVICE, writeHardenedProfile } from '#worker-image/engine/office/hardened-profile.ts';
import type { OfficeKind } from '#worker-image/engine/office/office-filters.ts';
import { officeCommand, officeFolder, TIMEOUT_SECONDS } from '#worker-image/engine/office/office-program.ts';
import type { RunCommand, ToolResult } from '#worker-image/tools/run-command.ts';

interface OfficeStart {
  /** Private directory, in which the process gets one for its profile and temporary files. */
  readonly folder: string;
  /** Kind whose code is loaded while no document has come; null: none. */
  readonly kind: OfficeKind | null;
}

const SCRIPT = join(import.meta.dirname, 'convert-document.py');
/** Library with which LibreOffice runs Python. */
const PYTHON_LOADER = 'libpythonloaderlo.so';
/** Line that the process writes once it can convert. */
const READY = 'ready';
/** Maximum time from the request until the process can convert, in milliseconds: a start takes half a second. */
const START_MS = 60_000;
const FACTORIES: Readonly<Record<OfficeKind, string>> = { word: 'swriter', sheet: 'scalc', presentation: 'simpress' };

const OFFICE_KINDS = Object.keys(FACTORIES) as OfficeKind[];

/** Starts the process. Null when python3-uno is not installed. @throws MissingTool. */
export async function startOffice(run: RunCommand, { folder, kind }: OfficeStart): Promise<PreparedTool | null> {
  const program = await officeFolder();
  if (!(await exists(join(program, PYTHON_LOADER)))) return null;
  const directory = await mkdtemp(join(folder, 'office-'));
  const profile = await writeHardenedProfile(directory, { runsConversion: true });
  const services = join(directory, 'services.rdb');
  await writeFile(services, serviceList());
  const own = pathToFileURL(join(program, 'services')).href;
  const args = [`-env:UserInstallation=${profile}`, `-env:URE_MORE_SERVICES=${pathToFileURL(services).href} <${own}>*`];
  const factory = kind === null ? {} : { FACTORY: FACTORIES[kind] };
  return runWaiting(run, { command: await officeCommand(directory, args, factory), directory });
}

interface OfficeProcess {
  readonly command: Awaited<ReturnType<typeof officeCommand>>;
  /** Private directory of the process. */
  readonly directory: string;
}

function runWaiting(run: RunCommand, { command, directory }: OfficeProcess): PreparedTool {
  const stop = new AbortController();
  const request = Promise.withResolvers<string>();
  let isReady = false;
  let isEnded = false;
  const onLine = (line: string): void => {
    isReady ||= line === READY;
  };
  const { signal } = stop;
  const limits = { directory, signal, timeoutSeconds: TIMEOUT_SECONDS };
  const result = run({ ...command, ...limits, input: request.promise, onLine });
  const onEnd = (): void => {
    isEnded = true;
  };
  result.then(onEnd, onEnd);

  async function send(text: string, wanted: AbortSignal): Promise<ToolResult | null> {
    wanted.throwIfAborted();
    if (isEnded) return null;
    const onAbort = (): void => stop.abort(wanted.reason);
    wanted.addEventListener('abort', onAbort, { once: true });
    const timer = setTimeout(() => {
      if (!isReady) stop.abort(new Error('LibreOffice does not run its script'));
    }, START_MS);
    request.resolve(text);
    try {
      const ended = await result;
      return isReady ? ended : null;
    } catch (error) {
      wanted.throwIfAborted();
      if (signal.aborted) return null;
      throw error;
    } finally {
      clearTimeout(timer);
      wanted.removeEventListener('abort', onAbort);
    }
  }

  async function end(): Promise<void> {
    stop.abort(new Error('no document came'));
    await result.catch(() => undefined);
    await rm(directory, { recursive: true, force: true });
  }

  return { file: command.file, kinds: OFFICE_KINDS, isReusable: false, send, end };
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
