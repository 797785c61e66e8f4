import type { Readable } from 'node:stream';

export interface MessageLines {
  /** Maximum length of a line, in bytes. */
  readonly maxBytes: number;
  readonly onLine: (line: string) => void;
  /** Called once, with the beginning of the line; nothing is read after it. */
  readonly onTooLong: (start: string) => void;
}

const NEWLINE = 0x0a;
const START_BYTES = 200;

/** Reads newline-delimited messages. Holds at most one message and one chunk of the stream in memory. */
export function readMessageLines(stream: Readable, { maxBytes, onLine, onTooLong }: MessageLines): void {
  let parts: Buffer[] = [];
  let held = 0;
  const stop = (): void => {
    stream.off('data', onData);
    stream.destroy();
    onTooLong(Buffer.concat(parts).subarray(0, START_BYTES).toString('utf8'));
  };
  const onData = (chunk: Buffer): void => {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); ; end = chunk.indexOf(NEWLINE, from)) {
      const piece = chunk.subarray(from, end < 0 ? chunk.length : end);
      parts.push(piece);
      held += piece.length;
      if (held > maxBytes) return stop();
      if (end < 0) return;
      const line = Buffer.concat(parts).toString('utf8');
      parts = [];
      held = 0;
      from = end + 1;
      onLine(line);
      if (stream.destroyed) return;
    }
  };
  stream.on('data', onData);
}

/** Returns the message as one line. */
export function messageLine(message: unknown): string {
  return `${JSON.stringify(message)}\n`;
}
