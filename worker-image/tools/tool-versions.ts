import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { tmpdir } from 'node:os';
import { packagesOf, TOOLS } from '#worker-image/tools/debian-packages.ts';
import { pythonPackagesFolder } from '#worker-image/tools/find-tool.ts';
import type { RunCommand } from '#worker-image/tools/run-command.ts';

const LIBRARIES = ['sharp'] as const;

/** Libraries that a tool uses, whose versions are reported with the tool's. */
export const TOOL_LIBRARIES: Readonly<Record<string, readonly string[]>> = {
  python3: ['pikepdf', 'pypdfium2', 'uharfbuzz'],
};

/**
 * Returns the versions, by name, of the tools (from their Debian packages), of the Python packages in the project's
 * environment and of the npm libraries that decode files. Missing ones are omitted.
 */
export async function toolVersions(run: RunCommand): Promise<Record<string, string>> {
  const [debian, python, npm] = await Promise.all([debianVersions(run), pythonVersions(), npmVersions()]);
  const tools = TOOLS.map((tool) => [tool, debian.get(packagesOf(tool)?.split(' ')[0] ?? '')] as const);
  return { node: process.versions.node, ...Object.fromEntries(tools.filter(isKnown)), ...python, ...npm };
}

/** Queries the package manager once, instead of starting every tool, LibreOffice among them. */
async function debianVersions(run: RunCommand): Promise<Map<string, string>> {
  const packages = [...new Set(TOOLS.flatMap((tool) => packagesOf(tool)?.split(' ')[0] ?? []))];
  const command = {
    file: 'dpkg-query',
    args: ['--show', '--showformat=${Package} ${Version}\\n', ...packages],
    directory: tmpdir(),
  };
  const found = new Map<string, string>();
  const onLine = (line: string): void => {
    const [name = '', version = ''] = line.split(' ');
    if (version !== '') found.set(name, version);
  };
  await run({ ...command, timeoutSeconds: 10, signal: new AbortController().signal, onLine }).catch(() => undefined);
  return found;
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
