import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { packagesOf, TOOLS } from '#worker-image/tools/debian-packages.ts';
import { pythonPackagesFolder } from '#worker-image/tools/find-tool.ts';

const LIBRARIES = ['sharp'] as const;
/** Packages of Debian on this machine, by dpkg(1). */
const DEBIAN_LIST = '/var/lib/dpkg/status';
/** Without it, only settings are left of a package, or it is not ready for use. */
const INSTALLED = /^Status: \S+ ok installed$/m;

/** Libraries that a tool uses, whose versions are reported with the tool's. */
export const TOOL_LIBRARIES: Readonly<Record<string, readonly string[]>> = {
  python3: ['pikepdf', 'pypdfium2', 'uharfbuzz'],
};

/**
 * Returns the versions, by name, of the tools (from their Debian packages), of the Python packages in the project's
 * environment and of the npm libraries that decode files. Missing ones are omitted.
 * @param list The package manager's list.
 */
export async function toolVersions(list: string = DEBIAN_LIST): Promise<Record<string, string>> {
  const [debian, python, npm] = await Promise.all([debianVersions(list), pythonVersions(), npmVersions()]);
  const tools = TOOLS.map((tool) => [tool, debian.get(packageOf(tool) ?? '')] as const);
  return { node: process.versions.node, ...Object.fromEntries(tools.filter(isKnown)), ...python, ...npm };
}

/** Reads the package manager's list: to start `dpkg-query`, or a tool for its version, takes longer than a small file does. */
async function debianVersions(list: string): Promise<Map<string, string>> {
  const wanted = new Set(TOOLS.map(packageOf));
  const text = await readFile(list, 'utf8').catch(() => '');
  const found = new Map<string, string>();
  for (const entry of text.split('\n\n')) {
    const name = /^Package: (.*)$/m.exec(entry)?.[1];
    if (name === undefined || !wanted.has(name) || !INSTALLED.test(entry)) continue;
    const version = /^Version: (.*)$/m.exec(entry)?.[1];
    if (version !== undefined) found.set(name, version);
  }
  return found;
}

/** Returns the package whose version is that of the tool; undefined: none is known. */
function packageOf(tool: string): string | undefined {
  return packagesOf(tool)?.split(' ')[0];
}

/** Reads versions from folder names such as `pikepdf-10.0.2.dist-info`. */
async function pythonVersions(): Promise<Record<string, string>> {
  const folder = await pythonPackagesFolder();
  const names = folder === null ? [] : await readdir(folder);
  const found = names.flatMap((name) => {
    const match = /^([\w.]+)-([\w.]+)\.dist-info$/.exec(name);
    return match?.[1] === undefined || match[2] === undefined ? [] : [[match[1].toLowerCase(), match[2]] as const];
  });
  return Object.fromEntries(found.filter(([name]) => name !== 'pip' && name !== 'setuptools'));
}

async function npmVersions(): Promise<Record<string, string>> {
  const { resolve } = createRequire(import.meta.url);
  const read = async (name: string): Promise<readonly [string, string | undefined]> => {
    const folder = dirname(dirname(resolve(name)));
    const { version } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as { version?: string };
    return [name, version];
  };
  return Object.fromEntries((await Promise.all(LIBRARIES.map(read))).filter(isKnown));
}

function isKnown(entry: readonly [string, string | undefined]): entry is readonly [string, string] {
  return entry[1] !== undefined;
}
