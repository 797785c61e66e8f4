/** Small disk for some folders, which a test fills. Available only when the run has its own mounts. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, statfsSync } from 'node:fs';

interface OwnDisk {
  fill(): void;
  free(): void;
  unmount(): void;
}

/** Size of the disk in bytes: the runs of a world use about 100 MB each. */
const SIZE = 4 * 1024 ** 3;
/** Free space of the full disk in bytes: less than any file. */
const ROOM = 4096;

/** Returns the mounted disk; null without `FAULTS_OWN_MOUNTS`, which `hack/faults` sets in a mount namespace of its own. */
export function mountOwnDisk(folders: readonly string[]): OwnDisk | null {
  if (process.env['FAULTS_OWN_MOUNTS'] !== 'true') return null;
  for (const folder of folders) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZE},mode=700`, 'none', folder]);
  }
  const resize = (folder: string, size: number): unknown =>
    execFileSync('mount', ['-o', `remount,size=${size}`, folder]);
  return {
    fill: () => {
      for (const folder of folders) {
        const { blocks, bfree, bsize } = statfsSync(folder);
        resize(folder, (blocks - bfree) * bsize + ROOM);
      }
    },
    free: () => {
      for (const folder of folders) resize(folder, SIZE);
    },
    unmount: () => {
      for (const folder of folders) execFileSync('umount', [folder]);
    },
  };
}
