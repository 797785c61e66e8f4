import { once } from 'node:events';
import { createServer } from 'node:https';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { connect as connectTls } from 'node:tls';
import { Registry } from 'prom-client';
import { afterEach, describe, expect, it } from 'vitest';
import { makeConnectionLimits, type ConnectionLimits } from '#api/http/connection-limits.ts';
import { makeApiMetrics } from '#api/http/metrics.ts';
import { makeReceiverCertificates } from '#test/support/receiver-certificates.ts';

const { certificate, key, authority: ca } = makeReceiverCertificates();
const cleanUp: (() => void)[] = [];
afterEach(() => {
  for (const end of cleanUp.splice(0)) end();
});

async function serve(limits: ConnectionLimits, trustedProxies: readonly string[] = []) {
  const registry = new Registry();
  const server = createServer({ cert: certificate, key }, (_request, response) => response.end('served'));
  makeConnectionLimits({ metrics: makeApiMetrics(registry), trustedProxies }, limits)(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  cleanUp.push(() => {
    server.close();
    server.closeAllConnections();
  });
  const open = async (localAddress = '127.0.0.1'): Promise<Socket> => {
    const accepted = once(server, 'connection');
    const socket = connect({ port, host: '127.0.0.1', localAddress });
    socket.on('error', () => undefined);
    cleanUp.push(() => void socket.destroy());
    await Promise.all([accepted, once(socket, 'connect')]);
    return socket;
  };
  const request = async (localAddress = '127.0.0.1'): Promise<string> => {
    const socket = connectTls({ socket: await open(localAddress), ca, servername: 'localhost' });
    const failed = new Promise<string>((resolve) => socket.once('error', () => resolve('closed')));
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    return Promise.race([text(socket).catch(() => 'closed'), failed]);
  };
  const metrics = (): Promise<string> => registry.metrics();
  return { open, request, metrics };
}

describe('limits on connections', () => {
  it('closes a connection over the limit of its address and serves another address', async () => {
    const { open, request, metrics } = await serve({ total: 100, perAddress: 5 });
    for (let held = 0; held < 5; held += 1) await open('127.0.0.2');
    expect(await request('127.0.0.2')).toBe('closed');
    expect(await request('127.0.0.3')).toContain('served');
    expect(await metrics()).toContain('mediajobs_http_connections_closed_total{reason="address_limit"} 1');
  });

  it('accepts a connection after another one has closed', async () => {
    const { open, request, metrics } = await serve({ total: 100, perAddress: 1 });
    const held = await open();
    expect(await request()).toBe('closed');
    held.destroy();
    await expect.poll(metrics).toContain('mediajobs_http_connections 0');
    expect(await request()).toContain('served');
    expect(await request()).toContain('served');
    await expect.poll(metrics).toContain('mediajobs_http_connections 0');
  });

  it('reserves the last tenth of all connections for addresses that hold few', async () => {
    const { open, request, metrics } = await serve({ total: 20, perAddress: 100 });
    for (let held = 0; held < 18; held += 1) await open('127.0.0.2');
    expect(await request('127.0.0.2')).toBe('closed');
    expect(await request('127.0.0.3')).toContain('served');
    for (let held = 0; held < 2; held += 1) await open('127.0.0.4');
    expect(await request('127.0.0.3')).toBe('closed');
    expect(await metrics()).toContain('mediajobs_http_connections_closed_total{reason="total_limit"} 2');
  });

  it('applies only the total limit to a trusted proxy', async () => {
    const { open, request } = await serve({ total: 20, perAddress: 2 }, ['127.0.0.2/32']);
    for (let held = 0; held < 19; held += 1) await open('127.0.0.2');
    expect(await request('127.0.0.2')).toContain('served');
    await open('127.0.0.2');
    expect(await request('127.0.0.2')).toBe('closed');
  });
});
