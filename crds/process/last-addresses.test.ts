import dns from 'node:dns';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { keepLastAddresses } from '#crds/process/last-addresses.ts';
import { makeLog } from '#crds/process/log.ts';

const NAME = 'store.example.test';
const real = dns.lookup;
/** How DNS answers: with an address of this machine, an error code, or not at all. */
let outcome: 'address' | 'EAI_AGAIN' | 'ENOTFOUND' | 'nothing' = 'address';
let lookups = 0;
const server = createServer((socket) => socket.end());

beforeEach(async () => {
  outcome = 'address';
  await once(server.listen(0, '127.0.0.1'), 'listening');
  lookups = 0;
  dns.lookup = ((_name: string, _options: object, callback: (...reply: unknown[]) => void) => {
    lookups += 1;
    if (outcome === 'address') callback(null, [{ address: '127.0.0.1', family: 4 }]);
    else if (outcome !== 'nothing') callback(Object.assign(new Error(`getaddrinfo ${outcome}`), { code: outcome }));
  }) as typeof dns.lookup;
  keepLastAddresses({ log: makeLog('test', 'silent') });
});
afterEach(async () => {
  dns.lookup = real;
  await new Promise((resolve) => server.close(resolve));
});

/** Resolves when a connection is established. */
async function connected(): Promise<void> {
  const socket = connect({ host: NAME, port: (server.address() as AddressInfo).port });
  await once(socket, 'connect');
  socket.destroy();
}

describe('a connection to a name', () => {
  it('is made to its last address when DNS fails', async () => {
    await connected();
    outcome = 'EAI_AGAIN';
    await connected();
    expect(lookups).toBe(2);
  });

  it('is made to its last address while DNS does not answer, with one look-up for all', async () => {
    await connected();
    outcome = 'nothing';
    await Promise.all([connected(), connected(), connected()]);
    expect(lookups).toBe(2);
  });

  it('fails when DNS fails and the name has had no address', async () => {
    outcome = 'EAI_AGAIN';
    await expect(connected()).rejects.toThrow('EAI_AGAIN');
    outcome = 'address';
    await connected();
  });

  it('fails when the name is absent in DNS', async () => {
    await connected();
    outcome = 'ENOTFOUND';
    await expect(connected()).rejects.toThrow('ENOTFOUND');
  });
});
