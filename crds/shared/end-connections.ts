import type { Server, ServerResponse } from 'node:http';

/**
 * Lets a closing server come to its end with the answers that it has in work. Call it once the server exists; what it
 * gives, when the server closes: from then on each answer closes its connection, which a client would otherwise hold
 * open for its next request.
 */
export function endConnectionsAtClose(server: Server): () => void {
  const inWork = new Set<ServerResponse>();
  server.on('request', (_request, response) => {
    inWork.add(response);
    response.once('close', () => inWork.delete(response));
  });
  return () => {
    for (const response of inWork) {
      if (!response.headersSent) response.setHeader('connection', 'close');
      // It lets go of its socket when it is finished.
      const { socket } = response;
      response.once('finish', () => socket?.end());
    }
  };
}
