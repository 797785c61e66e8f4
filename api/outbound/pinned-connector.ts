/** Connections to checked addresses: a later resolution of the name to other addresses has no effect. */
import { once } from 'node:events';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls, type SecureContext } from 'node:tls';
import type { buildConnector } from 'undici';
import { addressOfHost, canonicalAddress, isInNetworks, isPublicAddress } from '#api/outbound/public-address.ts';
import { resolveHost } from '#api/outbound/resolve-host.ts';
import { SafeFetchError } from '#api/outbound/safe-fetch-error.ts';

/** Returns every A and AAAA address of a name, in the order to try. The abort of the signal ends the look-up. */
export type Resolve = (name: string, signal: AbortSignal) => Promise<readonly string[]>;

/** Resolves names by the hosts file and the name servers of the operating system. */
export const systemResolve: Resolve = (name, signal) => resolveHost(SYSTEM_CONFIG, { name, signal });

/** Six seconds for a silent server leave time for a connection within the 10 seconds of a webhook. */
const SYSTEM_CONFIG = { hostsFile: '/etc/hosts', resolvConf: '/etc/resolv.conf', timeoutMs: 2000 } as const;

/**
 * Returns the checked addresses of a URL's host: each must be public, or inside the private networks that the operator
 * allows. An IP address instead of a name must be inside them.
 * @throws SafeFetchError forbidden_address, name_not_found; errors of the resolver
 */
export async function checkedAddresses(
  { resolve, privateTargets }: { resolve: Resolve; privateTargets: readonly string[] },
  { host, signal }: { host: string; signal: AbortSignal },
): Promise<readonly string[]> {
  const literal = addressOfHost(host);
  if (literal !== null) {
    if (isInNetworks(literal, privateTargets)) return [literal];
    throw new SafeFetchError('forbidden_address', 'the URL must name a public host, not an IP address');
  }
  const addresses = await resolve(host, signal);
  if (addresses.length === 0) throw new SafeFetchError('name_not_found', 'the host name has no address');
  const isAllowed = (address: string): boolean => isPublicAddress(address) || isInNetworks(address, privateTargets);
  if (addresses.every(isAllowed)) return addresses;
  throw new SafeFetchError('forbidden_address', `the name ${host} resolves to an address that is not public`);
}

/**
 * Returns a connector for undici that tries only the checked addresses, one after another, until the signal aborts.
 * SNI, certificate verification and Host use the name of the URL.
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
  const connectTimeout = new SafeFetchError(
    'timeout',
    `the host did not accept a connection within ${CONNECT_MS / 1000} seconds`,
  );
  const timer = setTimeout(() => socket.destroy(connectTimeout), CONNECT_MS);
  const onAbort = (): void => void socket.destroy(deps.signal.reason as Error);
  deps.signal.addEventListener('abort', onAbort, { once: true });
  try {
    await once(socket, url.protocol === 'https:' ? 'secureConnect' : 'connect');
  } finally {
    clearTimeout(timer);
    deps.signal.removeEventListener('abort', onAbort);
  }
  if (canonicalAddress(socket.remoteAddress ?? '') === canonicalAddress(address)) return socket;
  socket.destroy();
  throw new SafeFetchError('forbidden_address', 'the connection reached another address than the checked one');
}

function openSocket(secureContext: SecureContext, url: URL, address: string): Socket {
  const isTls = url.protocol === 'https:';
  const target = { host: address, port: url.port === '' ? (isTls ? 443 : 80) : Number(url.port) };
  if (!isTls) return connectTcp(target).setNoDelay(true);
  // Without a server name, the certificate is verified against the address.
  const servername = addressOfHost(url.hostname) === null ? { servername: url.hostname.replace(/\.$/, '') } : {};
  return connectTls({ ...target, ...servername, secureContext, ALPNProtocols: ['http/1.1'] }).setNoDelay(true);
}
