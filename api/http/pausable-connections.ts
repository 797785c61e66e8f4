import type { Server } from 'node:https';

/**
 * Keeps connections open on which a request arrives before the previous response is sent completely. Node.js pauses
 * reading then, but TLS may have decrypted more bytes already. The parser, which bypasses the socket's stream, treats
 * them as an error (HPE_PAUSED, Node.js 20 and 24) and resets the connection. With a `data` listener they pass through
 * the stream, which buffers them.
 */
export function makeConnectionsPausable(server: Server): void {
  server.on('secureConnection', (socket) => socket.on('data', () => undefined));
}
