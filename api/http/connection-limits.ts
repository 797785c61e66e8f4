/**
 * Limits on open connections, in all and per client address, over every public port. A connection beyond a
 * limit is closed before its TLS handshake, the expensive part of a connection.
 *
 *   accepted ──within the limits──→ open: counted until it closes
 *      ├── the address has `perAddress` ─────────────────────────────→ closed, reason `address_limit`
 *      ├── `total` are open ─────────────────────────────────────────→ closed, reason `total_limit`
 *      └── only the reserve is left, the address has `RESERVE_PER_ADDRESS` → closed, reason `total_limit`
 *
 * The reserve is the last tenth of `total`: when a few addresses hold all other connections, a health check or
 * a new caller is still accepted. Callers behind a trusted proxy share its address, so it has no limit of its own.
 */
import ipaddr from 'ipaddr.js';
import type { Server, Socket } from 'node:net';
import type { ApiMetrics } from '#api/http/metrics.ts';
import { isTrustedProxy } from '#api/http/request-address.ts';

export interface ConnectionLimits {
  /** Open connections at once. */
  readonly total: number;
  /** Open connections of one client address at once. */
  readonly perAddress: number;
}

interface LimitDeps {
  readonly metrics: Pick<ApiMetrics, 'connections' | 'connectionsClosed'>;
  /** Networks, as CIDRs. */
  readonly trustedProxies: readonly string[];
}

/** Share of `total` that only addresses with few connections may use. */
const RESERVED_SHARE = 0.1;
/** Open connections of one address up to which it may use the reserve. */
const RESERVE_PER_ADDRESS = 4;
/** Prefix length by which IPv6 clients are counted, in bits: providers assign at least a /64 to each customer. */
const IPV6_NETWORK_BITS = 64;

/** Returns a function that applies the limits to a server. Connections of all its servers are counted together. */
export function makeConnectionLimits(deps: LimitDeps, limits: ConnectionLimits): (server: Server) => void {
  const perClient = new Map<string, number>();
  let open = 0;
  const count = (client: string, change: 1 | -1): void => {
    open += change;
    deps.metrics.connections.set(open);
    const remaining = (perClient.get(client) ?? 0) + change;
    if (remaining === 0) perClient.delete(client);
    else perClient.set(client, remaining);
  };
  const admit = (socket: Socket): boolean => {
    const address = socket.remoteAddress;
    if (address === undefined) return false;
    const client = clientNetwork(address);
    const held = isTrustedProxy(deps.trustedProxies, address) ? 0 : (perClient.get(client) ?? 0);
    const refusal = refusalOf(limits, { open, held });
    if (refusal !== null) {
      deps.metrics.connectionsClosed.inc({ reason: refusal });
      return false;
    }
    count(client, 1);
    socket.once('close', () => count(client, -1));
    return true;
  };
  return (server) => admitBeforeListeners(server, admit);
}

function refusalOf(
  { total, perAddress }: ConnectionLimits,
  { open, held }: { open: number; held: number },
): 'address_limit' | 'total_limit' | null {
  if (held >= perAddress) return 'address_limit';
  const isReserveLeft = open < total && held < RESERVE_PER_ADDRESS;
  return open < Math.floor(total * (1 - RESERVED_SHARE)) || isReserveLeft ? null : 'total_limit';
}

/**
 * Calls `admit` before the server's own listeners. An added listener would run after that of node:tls, which begins a
 * handshake even on a destroyed socket.
 */
function admitBeforeListeners(server: Server, admit: (socket: Socket) => boolean): void {
  const listeners = server.listeners('connection');
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    if (!admit(socket)) return void socket.destroy();
    for (const listener of listeners) Reflect.apply(listener, server, [socket]);
  });
}

/** Returns the IPv4 address, or the network of the IPv6 address, by which connections of one client are counted. */
function clientNetwork(address: string): string {
  const parsed = ipaddr.process(address.replace(/%.*$/, ''));
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  return ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/${IPV6_NETWORK_BITS}`).toString();
}
