import { closeSync, fchmodSync, fchownSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';

/** Group and mode of a file that more than its owner may read. */
interface Readers {
  readonly gid: number;
  readonly mode: number;
}

interface WriteOptions {
  /** Default: only its owner may read it (0600). */
  readonly readers?: Readers;
  /** False for a file that nothing reads after a crash of the machine: a sync of a busy disk takes 20 ms. Default true. */
  readonly isDurable?: boolean;
}

/** Writes a file atomically. */
export function writeFileAtomically(
  file: string,
  content: string,
  { readers, isDurable = true }: WriteOptions = {},
): void {
  const draft = `${file}.${process.pid}.new`;
  rmSync(draft, { force: true });
  const descriptor = openSync(draft, 'wx', 0o600);
  try {
    writeFileSync(descriptor, content);
    if (readers !== undefined) {
      fchownSync(descriptor, process.getuid?.() ?? 0, readers.gid);
      fchmodSync(descriptor, readers.mode);
    }
    if (isDurable) fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(draft, file);
}
