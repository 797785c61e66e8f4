import type { Server, ServerResponse } from 'node:http';

/**
 * Tracks in-flight responses of a server. Returns a function to call when the server closes: it closes the keep-alive
 * connection of each in-flight response after that response. Otherwise clients keep the connections open.
 */
export function endConnectionsAtClose(server: Server): () => void {
  const inFlight = new Set<ServerResponse>();
  server.on('request', (_request, response) => {
    inFlight.add(response);
    response.once('close', () => inFlight.delete(response));
  });
  return () => {
    for (const response of inFlight) {
      if (!response.headersSent) response.setHeader('connection', 'close');
      // A finished response no longer refers to its socket.
      const { socket } = response;
      response.once('finish', () => socket?.end());
    }
  };
}
