import type { Server, ServerResponse } from 'node:http';

/**
 * Returns a function to call before the server closes: from then on every response closes its keep-alive connection,
 * those to requests in flight included, so that clients send their next request on a new connection, to another
 * process. A server that closes at once after it still resets an idle connection on which a request is under way.
 */
export function endConnectionsAtClose(server: Server): () => void {
  const inFlight = new Set<ServerResponse>();
  let closing = false;
  // Before the listener that sends the response.
  server.prependListener('request', (_request, response) => {
    if (closing) {
      response.setHeader('connection', 'close');
      return;
    }
    inFlight.add(response);
    response.once('close', () => inFlight.delete(response));
  });
  return () => {
    closing = true;
    for (const response of inFlight) {
      if (!response.headersSent) response.setHeader('connection', 'close');
      // A finished response no longer refers to its socket.
      const { socket } = response;
      response.once('finish', () => socket?.end());
    }
  };
}
