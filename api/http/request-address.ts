import ipaddr from 'ipaddr.js';

/** The peer of a connection with what the proxies in front of it said. */
interface Hop {
  readonly peer: string;
  readonly forwardedFor: string | undefined;
  readonly forwardedProto: string | undefined;
}

/**
 * The address that the request arrives from: the peer, or, behind trusted proxies, the nearest address
 * in `X-Forwarded-For` (read from the right) that is no trusted proxy. IPv4-mapped addresses are IPv4.
 */
export function clientAddress(trustedProxies: readonly string[], hop: Hop): string {
  const told = (hop.forwardedFor ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  let address = canonical(hop.peer);
  while (isTrusted(trustedProxies, address)) {
    const next = told.pop();
    if (next === undefined || !ipaddr.isValid(next)) break;
    address = canonical(next);
  }
  return address;
}

/** True when a trusted proxy says that it took the request over HTTPS. */
export function cameOverHttps(trustedProxies: readonly string[], hop: Hop): boolean {
  const nearest = hop.forwardedProto?.split(',').at(-1)?.trim().toLowerCase();
  return nearest === 'https' && isTrusted(trustedProxies, canonical(hop.peer));
}

function isTrusted(trustedProxies: readonly string[], address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  return trustedProxies.some((cidr) => {
    const [network, bits] = ipaddr.parseCIDR(cidr);
    return network.kind() === parsed.kind() && parsed.match(network, bits);
  });
}

function canonical(address: string): string {
  const withoutZone = address.split('%')[0] ?? address;
  return ipaddr.isValid(withoutZone) ? ipaddr.process(withoutZone).toString() : withoutZone;
}
