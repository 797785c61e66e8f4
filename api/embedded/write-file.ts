import { closeSync, fsyncSync, openSync, renameSync, writeFileSync } from 'node:fs';

/** Writes a private file (0600) so that a reader, and a crash, sees it whole or not at all. */
export function writeFileAtomically(file: string, content: string): void {
  const draft = `${file}.${process.pid}.new`;
  const descriptor = openSync(draft, 'w', 0o600);
  try {
    writeFileSync(descriptor, content);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(draft, file);
}
