import { Agent, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import Fastify from 'fastify';
import { describe, expect, it } from 'vitest';
import { endConnectionsAtClose } from './end-connections.ts';

describe('a server that closes', () => {
  it.each([
    { what: 'before its answer began', writesFirst: false },
    { what: 'in the middle of its answer', writesFirst: true },
  ])('ends the kept connection of a request $what', async ({ writesFirst }) => {
    const server = Fastify({ forceCloseConnections: 'idle', keepAliveTimeout: 3_600_000 });
    endConnectionsAtClose(server);
    const [begun, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    server.get('/', async (_request, reply) => {
      reply.hijack();
      if (writesFirst) reply.raw.write('first ');
      begun.resolve();
      await mayEnd.promise;
      reply.raw.end('last');
    });
    await server.listen({ host: '127.0.0.1', port: 0 });
    const { port } = server.server.address() as AddressInfo;
    const agent = new Agent({ keepAlive: true });
    const answer = new Promise<IncomingMessage>((resolve, reject) => {
      get({ port, agent }, resolve).once('error', reject);
    });
    await begun.promise;
    const closed = server.close();
    mayEnd.resolve();
    expect(await text(await answer)).toBe(writesFirst ? 'first last' : 'last');
    await closed;
    agent.destroy();
  });
});
