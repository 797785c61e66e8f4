/**
 * Files of the machine that an engine process can read: the system's programs and the engine's code. No caller's file,
 * no data, keys or configuration of the service, and no home directory.
 */
import { realpathSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { getCompileCacheDir } from 'node:module';
import { dirname, join } from 'node:path';
import { TOOLS } from '#worker-image/tools/debian-packages.ts';
import { findTool } from '#worker-image/tools/find-tool.ts';

/** Paths outside of `/usr` that its programs read. None contains data about the machine's owner or users. */
const SYSTEM = [
  '/etc/alternatives',
  '/etc/fonts',
  '/etc/ld.so.cache',
  '/etc/libreoffice',
  '/etc/locale.alias',
  '/etc/localtime',
  '/etc/papersize',
  '/etc/ssl/openssl.cnf',
  '/var/cache/fontconfig',
  '/var/lib/libreoffice',
  // LibreOffice ends when this folder cannot be opened, but not when it is missing.
  '/var/spool/libreoffice',
  // Numbers of processors and limits of memory.
  '/sys/devices/system',
  '/sys/fs/cgroup',
];
const PROJECT = join(import.meta.dirname, '../..');
const CODE = ['crds', 'worker-image', 'node_modules', '.tools', 'package.json'].map((name) => join(PROJECT, name));

/** Files that an engine process has to be able to read: one of its code, one of its packages. */
export const NEEDED_FILES = [
  join(PROJECT, 'worker-image/sandbox/child.ts'),
  join(PROJECT, 'node_modules/sharp/package.json'),
];

/** Returns the paths that an engine process may read; this machine may lack some. */
export function visibleFiles(): string[] {
  return ['/usr', ...SYSTEM, ...CODE, process.execPath, ...codeCache()];
}

/** Returns the folders of the code cache: the one of this user may be a link to that of another. */
function codeCache(): string[] {
  const cache = getCompileCacheDir();
  return cache === undefined ? [] : [...new Set([cache, realpathSync(cache)].map(dirname))];
}

/** Returns the paths of tools outside of `/usr`, which an engine process would not see; normally none. */
export async function hiddenTools(): Promise<string[]> {
  const paths = await Promise.all(
    TOOLS.map((tool) =>
      findTool(tool)
        .then((path) => realpath(path))
        .catch(() => '/usr/missing'),
    ),
  );
  return paths.filter((path) => !path.startsWith('/usr/'));
}
