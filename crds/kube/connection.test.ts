import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { connect, type Connection } from '#crds/kube/connection.ts';
import { makeKubeClient, type KubeClient } from '#crds/kube/kube-client.ts';
import { makeRateLimit } from '#crds/kube/rate-limit.ts';
import { systemTime } from '#crds/kube/time.ts';
import { makeReceiverCertificates, type ReceiverCertificates } from '#test/support/receiver-certificates.ts';

const MINUTE = 60_000;

describe('a connection with rotated files', () => {
  let folder: string;
  let server: Server;
  let connection: Connection;
  let client: KubeClient;
  let tokens: (string | undefined)[];

  const serve = async ({ key, certificate }: ReceiverCertificates, port = 0): Promise<number> => {
    server = createServer({ key, cert: certificate }, (request, response) => {
      tokens.push(request.headers.authorization);
      response.end('{}');
    }).listen(port, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  const stop = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  const trust = ({ authority }: ReceiverCertificates): Promise<void> => writeFile(join(folder, 'ca.crt'), authority);
  const prove = (token: string): Promise<void> => writeFile(join(folder, 'token'), token);

  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    folder = await mkdtemp(join(tmpdir(), 'connection-'));
    tokens = [];
    const certificates = makeReceiverCertificates();
    const port = await serve(certificates);
    await trust(certificates);
    await prove('first');
    const kubeconfig = join(folder, 'kubeconfig');
    const cluster = { server: `https://127.0.0.1:${port}`, 'certificate-authority': join(folder, 'ca.crt') };
    const provider = { name: 'tokenFile', config: { tokenFile: join(folder, 'token') } };
    const config = {
      clusters: [{ name: 'pod', cluster }],
      users: [{ name: 'pod', user: { 'auth-provider': provider } }],
      contexts: [{ name: 'pod', context: { cluster: 'pod', user: 'pod' } }],
      'current-context': 'pod',
    };
    await writeFile(kubeconfig, JSON.stringify(config));
    connection = connect(kubeconfig);
    client = makeKubeClient({
      connection,
      rateLimit: makeRateLimit(systemTime, { perSecond: 1000, burst: 1000 }),
      time: systemTime,
      metrics: { requested: () => undefined },
    });
  });
  afterEach(async () => {
    vi.useRealTimers();
    await connection.close();
    await stop();
    await rm(folder, { recursive: true });
  });

  it('sends the new token a minute later', async () => {
    await client.get('/a');
    await prove('second');
    vi.setSystemTime(Date.now() + 2 * MINUTE);
    await client.get('/a');
    expect(tokens).toEqual(['Bearer first', 'Bearer second']);
  });

  it('trusts the new authority as soon as its file contains it', async () => {
    await client.get('/a');
    const { port } = server.address() as AddressInfo;
    const next = makeReceiverCertificates();
    await stop();
    await serve(next, port);
    await expect(client.get('/a')).rejects.toMatchObject({
      status: 0,
      message: expect.stringContaining('certificate'),
    });
    await trust(next);
    expect(await client.get('/a')).toEqual({});
  });
});
