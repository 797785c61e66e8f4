import { closeSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs';

export interface LogFile {
  write(line: string): void;
}

interface LogFileInput {
  readonly file: string;
  /** At this size the file becomes `<file>.1`, which it replaces. */
  readonly maxBytes?: number;
}

/** A full disk costs lines, never the service. */
export function openLogFile({ file, maxBytes = 10_000_000 }: LogFileInput): LogFile {
  let descriptor = openSync(file, 'a', 0o600);
  let size = fstatSync(descriptor).size;
  const write = (line: string): void => {
    if (size >= maxBytes) {
      closeSync(descriptor);
      renameSync(file, `${file}.1`);
      descriptor = openSync(file, 'a', 0o600);
      size = 0;
    }
    size += writeSync(descriptor, `${line}\n`);
  };
  return {
    write: (line) => {
      try {
        write(line);
      } catch {
        // Nothing else can be done with the line.
      }
    },
  };
}
