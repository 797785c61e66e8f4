import { closeSync, existsSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs';

export interface LogFile {
  write(line: string): void;
}

interface LogFileInput {
  readonly file: string;
  /** Size at which the file is renamed to `<file>.1`, in bytes. */
  readonly maxBytes?: number;
}

/** Opens a log file for appending. Lines that cannot be written, such as on a full disk, are dropped. */
export function openLogFile({ file, maxBytes = 10_000_000 }: LogFileInput): LogFile {
  let descriptor = openSync(file, 'a', 0o600);
  let size = fstatSync(descriptor).size;
  const write = (line: string): void => {
    if (size >= maxBytes) {
      // Absent when a previous attempt could not open the new file.
      if (existsSync(file)) renameSync(file, `${file}.1`);
      const next = openSync(file, 'a', 0o600);
      closeSync(descriptor);
      descriptor = next;
      size = 0;
    }
    size += writeSync(descriptor, `${line}\n`);
  };
  return {
    write: (line) => {
      try {
        write(line);
      } catch {
        // The line is dropped.
      }
    },
  };
}
