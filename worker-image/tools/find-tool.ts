import { accessSync, existsSync, constants } from 'node:fs';
import { access, readdir } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { packagesOf, TOOLS, type Tool } from '#worker-image/tools/debian-packages.ts';

/** The machine lacks a tool. The operator has to install it; the file is not the cause. */
export class MissingTool extends Error {
  override readonly name = 'MissingTool';
}

const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const PYTHON = join(import.meta.dirname, '../../.tools/python');
const PYTHON_BIN = join(PYTHON, 'bin');

/** Returns the PATH of every tool: the project's Python environment if it exists, then the system's folders. */
export function toolPath(): string {
  return existsSync(PYTHON_BIN) ? `${PYTHON_BIN}${delimiter}${SYSTEM_PATH}` : SYSTEM_PATH;
}

/**
 * Returns the tool's full path.
 * @throws MissingTool that names its Debian package.
 */
export async function findTool(name: string): Promise<string> {
  const candidates = isAbsolute(name)
    ? [name]
    : toolPath()
        .split(delimiter)
        .map((folder) => join(folder, name));
  for (const candidate of candidates) {
    if (await isExecutable(candidate)) return candidate;
  }
  throw new MissingTool(missing(name));
}

/** Returns the engine's tools that this machine lacks, each with a sentence for the operator. */
export function missingTools(): { tool: Tool; problem: string }[] {
  const folders = toolPath().split(delimiter);
  return TOOLS.filter((tool) => !folders.some((folder) => isExecutableNow(join(folder, tool)))).map((tool) => ({
    tool,
    problem: missing(tool),
  }));
}

/** Returns the package folder of the project's Python environment; null when that does not exist. */
export async function pythonPackagesFolder(): Promise<string | null> {
  const versions = await readdir(join(PYTHON, 'lib')).catch(() => []);
  const version = versions.find((name) => name.startsWith('python'));
  return version === undefined ? null : join(PYTHON, 'lib', version, 'site-packages');
}

function missing(name: string): string {
  const packages = packagesOf(name);
  const remedy = packages === null ? 'Install it' : `Install it with: apt-get install ${packages}`;
  return `The tool ${name} is not installed on this machine. ${remedy}.`;
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

function isExecutableNow(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
