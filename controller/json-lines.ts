/** Messages between two processes, one JSON value per line, with a maximum length. */
import type { Socket } from 'node:net';

interface JsonLines {
  /** Maximum length of a line, in bytes; a longer one destroys the socket. */
  readonly maxBytes: number;
  /** Called with the value of each line. An error that it throws destroys the socket. */
  readonly onMessage: (message: unknown) => void;
}

/** Starts to read lines. A line that is too long or not JSON destroys the socket with an error. */
export function readJsonLines(socket: Socket, { maxBytes, onMessage }: JsonLines): void {
  let parts: Buffer[] = [];
  let size = 0;
  const take = (chunk: Buffer): void => {
    size += chunk.length;
    if (size > maxBytes) throw new RangeError(`a message has more than ${maxBytes} bytes`);
    parts.push(chunk);
  };
  const read = (chunk: Buffer): void => {
    let start = 0;
    for (let end = chunk.indexOf('\n'); end !== -1; end = chunk.indexOf('\n', start)) {
      take(chunk.subarray(start, end));
      const line = Buffer.concat(parts).toString('utf8');
      [parts, size, start] = [[], 0, end + 1];
      onMessage(JSON.parse(line));
    }
    take(chunk.subarray(start));
  };
  socket.on('data', (chunk: Buffer) => {
    if (socket.destroyed) return;
    try {
      read(chunk);
    } catch (error) {
      socket.destroy(error instanceof Error ? error : new Error(String(error)));
    }
  });
}

/** Writes a message as one line; does nothing on a destroyed socket. */
export function writeJsonLine(socket: Socket, message: object): void {
  if (!socket.destroyed) socket.write(`${JSON.stringify(message)}\n`);
}
