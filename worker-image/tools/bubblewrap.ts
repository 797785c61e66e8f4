/**
 * Command line of bubblewrap: a mount namespace in which an engine process sees the system's programs, the engine's
 * code and its own folder.
 */
import { lstatSync, readdirSync, readlinkSync } from 'node:fs';
import { resolve } from 'node:path';
import { visibleFiles } from '#worker-image/tools/visible-files.ts';

/** Options for namespaces. Only with its own process namespace does `/proc` show no other process. */
const NAMESPACES = ['--unshare-ipc', '--unshare-pid', '--as-pid-1', '--die-with-parent', '--cap-drop', 'ALL'];
/** Size of the private `/tmp` and of `/dev/shm`, in bytes. They take memory: tools work in the process's own folder. */
const MAX_TMP_BYTES = 64 * 1024 ** 2;
const PRIVATE_MOUNTS = ['--proc', '/proc', '--dev', '/dev', ...sizedFolder('/dev/shm'), ...sizedFolder('/tmp')];
/**
 * Options after all mounts, whose parent folders bubblewrap creates before. Root without capabilities could still
 * change the kernel's settings below `/proc/sys`, which apply beyond every namespace.
 */
const READ_ONLY_MOUNTS = ['--remount-ro', '/proc', '--remount-ro', '/dev', '--remount-ro', '/'];

/**
 * Returns the prefix of a command line, whose process may write only to the folder. It must run inside a process
 * namespace, which ends with it: by itself bubblewrap survives a parent that is killed during its start.
 * `filter` is the descriptor of a seccomp filter; null: none.
 */
export function bubblewrapPrefix(folder: string, filter: number | null): string[] {
  const own = resolve(folder);
  const binds = visibleFiles().flatMap((path) => ['--ro-bind-try', path, path]);
  const seccomp = filter === null ? [] : ['--seccomp', String(filter)];
  const mounts = [...programFolders().flatMap(bound), ...binds, '--bind', own, own, '--chdir', own];
  return ['bwrap', ...NAMESPACES, ...PRIVATE_MOUNTS, ...mounts, ...READ_ONLY_MOUNTS, ...seccomp, '--'];
}

function sizedFolder(path: string): string[] {
  return ['--size', String(MAX_TMP_BYTES), '--tmpfs', path];
}

/** Returns `/bin`, `/lib64` and the like, which are links into `/usr` on most systems. */
export function programFolders(): string[] {
  return readdirSync('/').flatMap((name) => (/^(s?bin|lib\w*)$/.test(name) ? [`/${name}`] : []));
}

function bound(path: string): string[] {
  return lstatSync(path).isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path];
}
