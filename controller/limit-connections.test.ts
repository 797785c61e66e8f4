import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MemoryMediaJobs } from '#crds/media-jobs/memory-media-jobs.ts';
import { systemClock } from '#crds/process/clock.ts';
import { makeLog } from '#crds/process/log.ts';
import { closeServer, listen, portOf } from '#crds/process/ops-server.ts';
import { serveWorkerPort, type Heartbeats } from '#controller/worker-port-server.ts';
import { limitConnections, type WorkerConnectionLimits } from '#controller/limit-connections.ts';

const log = makeLog('test', 'silent');

const openTo = async (port: number, { host, from = host }: { host: string; from?: string }): Promise<Socket> => {
  const socket = connect({ host, port, localAddress: from });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
};

/** Returns whether the server responds on a connection; false when it has closed it. */
const responds = (socket: Socket): Promise<boolean> =>
  new Promise((resolve) => {
    socket.once('data', () => resolve(true)).once('close', () => resolve(false));
    if (socket.destroyed) resolve(false);
    else socket.write('GET /unknown HTTP/1.1\r\nhost: x\r\n\r\n');
  });

describe('limitConnections', () => {
  let server: Server;

  afterEach(() => closeServer(server));

  const serve = async (limits: WorkerConnectionLimits): Promise<void> => {
    server = createServer((_request, response) => response.end('ok'));
    limitConnections({ server, log }, limits);
    await listen(server, { host: '127.0.0.1', port: 0 });
  };
  const open = (from = '127.0.0.1'): Promise<Socket> => openTo(portOf(server) ?? 0, { host: '127.0.0.1', from });

  it('closes the connections of an address above its limit, and none of another address', async () => {
    await serve({ total: 100, perAddress: 2, isExempt: () => false });
    const [first, second] = [await open(), await open()];
    expect([await responds(first), await responds(second), await responds(await open())]).toEqual([true, true, false]);
    expect(await responds(await open('127.0.0.2'))).toBe(true);
    expect(await responds(first)).toBe(true);
  });

  it('accepts a connection of an address again when one of its others has closed', async () => {
    await serve({ total: 100, perAddress: 1, isExempt: () => false });
    const first = await open();
    expect(await responds(first)).toBe(true);
    expect(await responds(await open())).toBe(false);
    first.destroy();
    await expect.poll(async () => responds(await open())).toBe(true);
  });

  it('closes every connection above the total, also of an exempt address', async () => {
    await serve({ total: 3, perAddress: 2 });
    const sockets = await Promise.all([open(), open(), open()]);
    expect(await Promise.all(sockets.map(responds))).toEqual([true, true, true]);
    expect(await responds(await open())).toBe(false);
  });
});

describe('the port for workers', () => {
  const MANY = 300;
  const foreign = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;
  let heartbeats: Heartbeats;

  beforeEach(async () => {
    const mediaJobs = new MemoryMediaJobs({ clock: systemClock, newUid: () => 'uid-1' });
    heartbeats = await serveWorkerPort(
      { clock: systemClock, log, mediaJobs, grantTransfer: async () => null },
      { address: { host: '0.0.0.0', port: 0 }, key: Buffer.alloc(32, 1) },
    );
  });
  afterEach(() => heartbeats.close());

  const respondsToMany = async (host: string): Promise<readonly boolean[]> => {
    const port = Number(new URL(heartbeats.url).port);
    const sockets: Socket[] = [];
    while (sockets.length < MANY) sockets.push(await openTo(port, { host }));
    return Promise.all(sockets.map(responds));
  };

  it('keeps all connections of loopback, which the processes of one machine share', async () => {
    expect((await respondsToMany('127.0.0.1')).filter(Boolean)).toHaveLength(MANY);
  });

  it.skipIf(foreign === undefined)('keeps 256 connections of an address and those of others', async () => {
    const kept = await respondsToMany(foreign ?? '');
    expect(kept.slice(0, 256).every(Boolean)).toBe(true);
    expect(kept.slice(256).some(Boolean)).toBe(false);
    const port = Number(new URL(heartbeats.url).port);
    expect(await responds(await openTo(port, { host: '127.0.0.1' }))).toBe(true);
  });
});
