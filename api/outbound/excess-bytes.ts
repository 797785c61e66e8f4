import type { Socket } from 'node:net';

/**
 * Returns a function that returns whether the server sent bytes after the end of its response: then its Content-Length
 * was too low and the body received is truncated. undici ends the connection with the response and unshifts the bytes
 * that it has read beyond it; bytes that arrive later are not detected.
 */
export function watchExcess(socket: Socket): () => boolean {
  let hasExcess = false;
  const unshift = socket.unshift.bind(socket);
  socket.unshift = (chunk: Buffer, encoding?: BufferEncoding) => {
    if (socket.destroyed && chunk.length > 0) hasExcess = true;
    unshift(chunk, encoding);
  };
  return () => hasExcess;
}
