import type { Server } from 'node:https';

/**
 * Lets a request wait that comes before the last answer of its connection has gone out whole. Node.js stops reading
 * then, but of TLS more may be decrypted already: its parser, when it reads past the socket's stream, takes that for an
 * error (HPE_PAUSED, Node.js 20 and 24) and the connection is reset. With a listener of its own the stream keeps it.
 */
export function makeConnectionsPausable(server: Server): void {
  server.on('secureConnection', (socket) => socket.on('data', () => undefined));
}
