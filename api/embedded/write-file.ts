import { closeSync, fchmodSync, fchownSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';

/** Group and mode of a file that more than its owner may read. */
interface Readers {
  readonly gid: number;
  readonly mode: number;
}

/** Writes a file atomically and durably. By default only its owner may read it (0600). */
export function writeFileAtomically(file: string, content: string, readers: Readers | null = null): void {
  const draft = `${file}.${process.pid}.new`;
  rmSync(draft, { force: true });
  const descriptor = openSync(draft, 'wx', 0o600);
  try {
    writeFileSync(descriptor, content);
    if (readers !== null) {
      fchownSync(descriptor, process.getuid?.() ?? 0, readers.gid);
      fchmodSync(descriptor, readers.mode);
    }
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(draft, file);
}
