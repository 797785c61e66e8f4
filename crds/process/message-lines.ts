/** Messages between two processes, one per line, with a maximum length. */
import type { Socket } from 'node:net';
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

/** Starts to read lines, until the stream is destroyed. Holds at most one line and one chunk of it in memory. */
export function readMessageLines(stream: Readable, { maxBytes, onLine, onTooLong }: MessageLines): void {
  let parts: Buffer[] = [];
  let held = 0;
  const stop = (): void => {
    stream.off('data', onData);
    onTooLong(Buffer.concat(parts).subarray(0, START_BYTES).toString('utf8'));
    stream.destroy();
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

/**
 * Starts to read JSON values, one per line. A line that is too long or not JSON destroys the socket with an error, and so
 * does an error of `onMessage`.
 */
export function readJsonLines(
  socket: Socket,
  { maxBytes, onMessage }: { maxBytes: number; onMessage: (message: unknown) => void },
): void {
  const destroy = (error: unknown): void =>
    void socket.destroy(error instanceof Error ? error : new Error(String(error)));
  readMessageLines(socket, {
    maxBytes,
    onLine: (line) => {
      try {
        onMessage(JSON.parse(line));
      } catch (error) {
        destroy(error);
      }
    },
    onTooLong: () => destroy(new RangeError(`a message has more than ${maxBytes} bytes`)),
  });
}

/** Writes a message as one line; does nothing on a destroyed socket. */
export function writeJsonLine(socket: Socket, message: object): void {
  if (!socket.destroyed) socket.write(messageLine(message));
}

export function messageLine(message: unknown): string {
  return `${JSON.stringify(message)}\n`;
}
