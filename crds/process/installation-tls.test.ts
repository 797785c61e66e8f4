import { once } from 'node:events';
import { connect, createServer, type TLSSocket } from 'node:tls';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { installationClient, installationServer } from '#crds/process/installation-tls.ts';

const [OLD, NEW] = [1, 2].map((byte) => ({ id: `k${byte}`, key: Buffer.alloc(32, byte) }));
type Ring = Parameters<typeof installationServer>[0];
const ring = (...keys: (typeof OLD)[]): Ring => keys.flatMap((key) => key ?? []);

/** Connects and waits for an echoed byte. Returns the client's socket; null when the handshake failed. */
async function connected(server: Ring, client: Ring): Promise<TLSSocket | null> {
  const listening = createServer(installationServer(server), (socket) =>
    socket.on('error', () => undefined).pipe(socket),
  );
  await once(listening.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void listening.close());
  const socket = connect({ ...installationClient(client), port: (listening.address() as AddressInfo).port });
  onTestFinished(() => void socket.destroy());
  socket.write('x');
  return once(socket, 'data').then(
    () => socket,
    () => null,
  );
}

describe('TLS of the installation', () => {
  it.each([
    ['one key on both sides', ring(OLD), ring(OLD), true],
    ['the new key last on the engine', ring(OLD, NEW), ring(OLD), true],
    ['the new key first on the API', ring(OLD, NEW), ring(NEW, OLD), true],
    ['the old key removed from the engine', ring(NEW), ring(NEW, OLD), true],
    ['a new key that the engine lacks', ring(OLD), ring(NEW, OLD), false],
    ['no key on the engine', ring(), ring(OLD), false],
  ])('connects or fails with %s', async (_what, server, client, works) => {
    expect((await connected(server, client)) !== null).toBe(works);
  });

  it('has forward secrecy and authenticated encryption', async () => {
    const socket = await connected(ring(OLD), ring(OLD));
    expect(socket?.getProtocol()).toBe('TLSv1.2');
    expect(socket?.getCipher().standardName).toBe('TLS_ECDHE_PSK_WITH_CHACHA20_POLY1305_SHA256');
  });

  it('refuses a client without a key', () => {
    expect(() => installationClient([])).toThrow('at least one key');
  });
});
