import type { Socket } from 'node:net';

/**
 * Gives a function that tells whether the server sent bytes after the end of its answer, so that its
 * Content-Length was too low and what was received is a part only. undici ends the connection with the answer and
 * gives back what it has read beyond it; what arrives later still is not seen.
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
