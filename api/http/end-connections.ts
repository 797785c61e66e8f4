import type { ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';

/**
 * Lets a closing server come to its end with the answers that it has in work: each of them closes its connection,
 * which a client would otherwise hold open for its next request.
 */
export function endConnectionsAtClose(fastify: FastifyInstance): void {
  const inWork = new Set<ServerResponse>();
  fastify.server.on('request', (_request, response) => {
    inWork.add(response);
    response.once('close', () => inWork.delete(response));
  });
  fastify.addHook('preClose', async () => {
    for (const response of inWork) {
      if (!response.headersSent) response.setHeader('connection', 'close');
      response.once('finish', () => response.socket?.end());
    }
  });
}
