/** Connects to an address that was checked, whatever the name leads to by then. */
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls, type SecureContext } from 'node:tls';
import type { buildConnector } from 'undici';
import { addressOfHost, canonicalAddress, isInNetworks, isPublicAddress } from '#crds/shared/public-address.ts';
import { SafeFetchError } from '#crds/shared/safe-fetch-error.ts';

/** Every A and AAAA address of a name, in the order to try. */
export type Resolve = (name: string) => Promise<readonly string[]>;

export const systemResolve: Resolve = async (name) => (await lookup(name, { all: true })).map(({ address }) => address);

/**
 * The addresses behind a URL's host, all of them checked: each must be public, or inside the private
 * networks that the operator allows. An IP address in place of a name must be inside them.
 * @throws SafeFetchError forbidden_address; what the resolver throws
 */
export async function checkedAddresses(
  { resolve, privateTargets }: { resolve: Resolve; privateTargets: readonly string[] },
  host: string,
): Promise<readonly string[]> {
  const literal = addressOfHost(host);
  if (literal !== null) {
    if (isInNetworks(literal, privateTargets)) return [literal];
    throw new SafeFetchError('forbidden_address', 'the URL must name a public host, not an IP address');
  }
  const addresses = await resolve(host);
  if (addresses.length === 0) throw new SafeFetchError('name_not_found', "the host's name has no address");
  const isAllowed = (address: string): boolean => isPublicAddress(address) || isInNetworks(address, privateTargets);
  if (addresses.every(isAllowed)) return addresses;
  throw new SafeFetchError('forbidden_address', `the name ${host} leads to an address that is not public`);
}

/**
 * A connector for undici that connects to the checked addresses, in turn, and to no other, for as long
 * as the signal allows. The URL's name stays in SNI, in the certificate's check and in Host.
 */
export function pinnedConnector(
  deps: { secureContext: SecureContext; signal: AbortSignal },
  { url, addresses }: { url: URL; addresses: readonly string[] },
): buildConnector.connector {
  return (_options, done) => {
    connectToFirst(deps, url, addresses).then(
      (socket) => done(null, socket),
      (error: unknown) => done(error as Error, null),
    );
  };
}

interface ConnectDeps {
  readonly secureContext: SecureContext;
  readonly signal: AbortSignal;
}

const CONNECT_MS = 5000;

async function connectToFirst(deps: ConnectDeps, url: URL, addresses: readonly string[]): Promise<Socket> {
  let failure: unknown;
  for (const address of addresses) {
    deps.signal.throwIfAborted();
    try {
      return await connectTo(deps, url, address);
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

async function connectTo(deps: ConnectDeps, url: URL, address: string): Promise<Socket> {
  const socket = openSocket(deps.secureContext, url, address);
  const lateness = new SafeFetchError(
    'timeout',
    `the host did not accept a connection within ${CONNECT_MS / 1000} seconds`,
  );
  const timer = setTimeout(() => socket.destroy(lateness), CONNECT_MS);
  const giveUp = (): void => void socket.destroy(deps.signal.reason as Error);
  deps.signal.addEventListener('abort', giveUp, { once: true });
  try {
    await once(socket, url.protocol === 'https:' ? 'secureConnect' : 'connect');
  } finally {
    clearTimeout(timer);
    deps.signal.removeEventListener('abort', giveUp);
  }
  if (canonicalAddress(socket.remoteAddress ?? '') === canonicalAddress(address)) return socket;
  socket.destroy();
  throw new SafeFetchError('forbidden_address', 'the connection led to another address than the checked one');
}

function openSocket(secureContext: SecureContext, url: URL, address: string): Socket {
  const isTls = url.protocol === 'https:';
  const where = { host: address, port: url.port === '' ? (isTls ? 443 : 80) : Number(url.port) };
  if (!isTls) return connectTcp(where).setNoDelay(true);
  // Without a name the certificate is compared with the address.
  const servername = addressOfHost(url.hostname) === null ? { servername: url.hostname.replace(/\.$/, '') } : {};
  return connectTls({ ...where, ...servername, secureContext, ALPNProtocols: ['http/1.1'] }).setNoDelay(true);
}
