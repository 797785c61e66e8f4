import dns from 'node:dns';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeEngineClient } from '#api/direct/engine-client.ts';
import { installationServer } from '#crds/process/installation-tls.ts';
import { keepLastAddresses } from '#crds/process/last-addresses.ts';
import { makeLog } from '#crds/process/log.ts';
import type { RingKey } from '#crds/process/ring-key.ts';

const KEYS: readonly RingKey[] = [{ id: 'a', key: Buffer.alloc(32, 1) }];

/** Starts an engine that closes each connection, and a name for it. Returns its port, and a function that ends DNS. */
async function startEngine(): Promise<{ readonly port: number; readonly endDns: () => void }> {
  const engine = createServer(installationServer(KEYS), (_request, response) =>
    response.writeHead(404, { connection: 'close' }).end(),
  );
  engine.on('checkContinue', (_request, response) => response.writeHead(500).end());
  await once(engine.listen(0, '127.0.0.1'), 'listening');
  const real = dns.lookup;
  let isAnswering = true;
  dns.lookup = ((_name: string, _options: object, callback: (...reply: unknown[]) => void) => {
    if (isAnswering) callback(null, [{ address: '127.0.0.1', family: 4 }]);
    else callback(Object.assign(new Error('getaddrinfo EAI_AGAIN'), { code: 'EAI_AGAIN' }));
  }) as typeof dns.lookup;
  keepLastAddresses({ log: makeLog('test', 'silent') });
  onTestFinished(() => {
    dns.lookup = real;
    engine.close();
  });
  return { port: (engine.address() as AddressInfo).port, endDns: () => void (isAnswering = false) };
}

describe('a client of the engine', () => {
  it.each([
    ['that has connected once reaches it when DNS fails', true, 'responded with status 500'],
    ['that has never connected does not', false, 'not available'],
  ])('%s', async (_what, connects, outcome) => {
    const { port, endDns } = await startEngine();
    const client = makeEngineClient({ url: `https://engine.example.test:${port}`, keys: KEYS });
    onTestFinished(() => client.close());
    if (connects) await client.connect();
    endDns();
    const body = { tenant: 'a', bytes: 1, signal: AbortSignal.timeout(30_000) };
    await expect(client.acquireSlot(body)).rejects.toThrow(outcome);
  });

  it('does not fail when nobody listens', async () => {
    const client = makeEngineClient({ url: 'http+unix://%2Fnobody%2Flistens', keys: [] });
    await expect(client.connect()).resolves.toBeUndefined();
  });
});
