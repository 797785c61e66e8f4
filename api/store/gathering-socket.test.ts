import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { GatheringSocket } from '#api/store/gathering-socket.ts';

const server = createServer().listen(0, '127.0.0.1');
await once(server, 'listening');
const sockets: Socket[] = [];
afterAll(() => {
  for (const socket of sockets) socket.destroy();
  server.close();
});

/** Returns a connected pair: what the server receives, and the gathering socket. */
async function connect(): Promise<{ socket: GatheringSocket; received: string[]; receiver: Socket }> {
  const socket = new GatheringSocket();
  const accepted = once(server, 'connection');
  socket.connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [receiver] = (await accepted) as [Socket];
  sockets.push(socket, receiver);
  const received: string[] = [];
  receiver.on('data', (chunk: Buffer) => received.push(chunk.toString()));
  if (socket.connecting) await once(socket, 'connect');
  return { socket, received, receiver };
}

describe('a gathering socket', () => {
  it('sends what is written in one turn as one chunk, also what promises write', async () => {
    const { socket, received, receiver } = await connect();
    socket.write('a');
    void Promise.resolve()
      .then(() => socket.write('b'))
      .then(() => socket.write(Buffer.from('c')));
    await once(receiver, 'data');
    expect(received).toStrictEqual(['abc']);
  });

  it('sends what is written later by itself, and reports that it was sent', async () => {
    const { socket, received, receiver } = await connect();
    await new Promise<void>((resolve) => void socket.write('a', () => resolve()));
    if (received.length === 0) await once(receiver, 'data');
    await nextTurn();
    await new Promise<void>((resolve) => void socket.write('ff', 'hex', () => resolve()));
    if (received.length === 1) await once(receiver, 'data');
    expect(received).toHaveLength(2);
  });

  it('sends what is written before it is connected, and what is written last', async () => {
    const socket = new GatheringSocket();
    const accepted = once(server, 'connection');
    socket.connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.write('first ');
    socket.end('last');
    const [receiver] = (await accepted) as [Socket];
    sockets.push(socket, receiver);
    expect((await receiver.setEncoding('utf8').toArray()).join('')).toBe('first last');
  });
});
