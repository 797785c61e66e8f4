import { once } from 'node:events';
import { Agent, createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { listen } from '#crds/process/ops-server.ts';
import { endConnectionsAtClose } from './end-connections.ts';

describe('a server that closes', () => {
  it.each([
    { what: 'before its response began', writesFirst: false },
    { what: 'in the middle of its response', writesFirst: true },
  ])('closes the keep-alive connection of a request that was received $what', async ({ writesFirst }) => {
    const [begun, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const server = createServer({ keepAliveTimeout: 3_600_000 }, (_request, response) => {
      if (writesFirst) response.write('first ');
      begun.resolve();
      void mayEnd.promise.then(() => response.end('last'));
    });
    const endConnections = endConnectionsAtClose(server);
    await listen(server, { host: '127.0.0.1', port: 0 });
    const { port } = server.address() as AddressInfo;
    const agent = new Agent({ keepAlive: true });
    const reply = new Promise<IncomingMessage>((resolve, reject) => {
      get({ port, agent }, resolve).once('error', reject);
    });
    await begun.promise;
    const closed = once(server, 'close');
    endConnections();
    server.close();
    mayEnd.resolve();
    expect(await text(await reply)).toBe(writesFirst ? 'first last' : 'last');
    await closed;
    agent.destroy();
  });

  it('closes the keep-alive connection of a request that is received before it closes', async () => {
    const server = createServer((_request, response) => response.end('done'));
    const endConnections = endConnectionsAtClose(server);
    await listen(server, { host: '127.0.0.1', port: 0 });
    const { port } = server.address() as AddressInfo;
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const connection = async (): Promise<[header: string | undefined, port: number | undefined]> => {
      const reply = await new Promise<IncomingMessage>((resolve, reject) => {
        get({ port, agent }, resolve).once('error', reject);
      });
      const { localPort } = reply.socket;
      await text(reply);
      return [reply.headers.connection, localPort];
    };
    const [, first] = await connection();
    expect(await connection()).toEqual(['keep-alive', first]);
    endConnections();
    expect(await connection()).toEqual(['close', first]);
    const [header, other] = await connection();
    expect(header).toBe('close');
    expect(other).not.toBe(first);
    agent.destroy();
    server.close();
  });
});
