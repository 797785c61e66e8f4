/**
 * What an engine process sees of the machine's files, by bubblewrap's mount namespace: the system's
 * programs, the engine's own code, and one folder of its own. No other caller's file, nothing of the
 * service's data, keys or configuration, nobody's home.
 */
import { lstatSync, readdirSync, readlinkSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { getCompileCacheDir } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { TOOLS } from '#worker-image/tools/debian-packages.ts';
import { findTool } from '#worker-image/tools/find-tool.ts';

/** Only with a process namespace of its own does bubblewrap mount a `/proc` that shows no other process. */
const ALONE = ['--unshare-ipc', '--unshare-pid', '--as-pid-1', '--die-with-parent', '--cap-drop', 'ALL'];
/** The private `/tmp` takes memory; work belongs into the process's own folder. */
const MAX_TMP_BYTES = 64 * 1024 ** 2;
const PRIVATE = ['--proc', '/proc', '--dev', '/dev', '--size', String(MAX_TMP_BYTES), '--tmpfs', '/tmp'];
/** Last: folders above what is bound are made before. */
const END = ['--remount-ro', '/', '--'];
/** Beside `/usr`: what its programs read, none of it about the machine's owner or its users. */
const SYSTEM = [
  '/etc/alternatives',
  '/etc/fonts',
  '/etc/ld.so.cache',
  '/etc/libreoffice',
  '/etc/localtime',
  '/etc/papersize',
  '/var/cache/fontconfig',
  '/var/lib/libreoffice',
  // Numbers of processors and limits of memory.
  '/sys/devices/system',
  '/sys/fs/cgroup',
];
const PROJECT = join(import.meta.dirname, '../..');
const CODE = ['crds', 'worker-image', 'node_modules', '.tools', 'package.json'].map((name) => join(PROJECT, name));
/** Behind the wall even root reads only what it owns or what all may read; so a start of Node alone proves too little. */
export const TRIAL = [
  'sh',
  '-c',
  'test -r "$1" && test -r "$2" && exec "$0" --version',
  process.execPath,
  join(PROJECT, 'worker-image/engine/child.ts'),
  join(PROJECT, 'node_modules/sharp/package.json'),
];

/**
 * Put before the command line of a process, at home in a folder that it may write to. To stand inside of a
 * process namespace, which ends with bubblewrap: by itself bubblewrap outlives a parent that is killed as it starts.
 */
export function fileWall(home: string): string[] {
  const own = resolve(home);
  const cache = getCompileCacheDir();
  const seen = ['/usr', ...SYSTEM, ...CODE, process.execPath, ...(cache === undefined ? [] : [dirname(cache)])];
  const binds = seen.flatMap((path) => ['--ro-bind-try', path, path]);
  return ['bwrap', ...ALONE, ...PRIVATE, ...programFolders(), ...binds, '--bind', own, own, '--chdir', own, ...END];
}

/** Whether the tools would still be whole behind the wall: none of them lives outside of `/usr`. */
export async function toolsFitBehindWall(): Promise<boolean> {
  const places = await Promise.all(
    TOOLS.map((tool) =>
      findTool(tool)
        .then((path) => realpath(path))
        .catch(() => '/usr/missing'),
    ),
  );
  return places.every((place) => place.startsWith('/usr/'));
}

/** `/bin`, `/lib64` and the like, which are links into `/usr` on most systems. */
function programFolders(): string[] {
  const paths = readdirSync('/').flatMap((name) => (/^(s?bin|lib\w*)$/.test(name) ? [`/${name}`] : []));
  return paths.flatMap((path) =>
    lstatSync(path).isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path],
  );
}
