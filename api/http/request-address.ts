import ipaddr from 'ipaddr.js';

/** The peer of a connection, with the values of its `X-Forwarded-For` and `X-Forwarded-Proto` headers. */
interface Hop {
  readonly peer: string;
  readonly forwardedFor: string | undefined;
  readonly forwardedProto: string | undefined;
}

/**
 * Returns the client's address: the peer, or behind trusted proxies the rightmost address in `X-Forwarded-For` that is
 * not a trusted proxy. IPv4-mapped addresses are returned as IPv4.
 */
export function clientAddress(trustedProxies: readonly string[], hop: Hop): string {
  const forwarded = (hop.forwardedFor ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  let address = canonical(hop.peer);
  while (isTrustedProxy(trustedProxies, address)) {
    const next = forwarded.pop();
    if (next === undefined || !ipaddr.isValid(next)) break;
    address = canonical(next);
  }
  return address;
}

/** Returns whether a trusted proxy reports that it received the request over HTTPS. */
export function cameOverHttps(trustedProxies: readonly string[], hop: Hop): boolean {
  const nearest = hop.forwardedProto?.split(',').at(-1)?.trim().toLowerCase();
  return nearest === 'https' && isTrustedProxy(trustedProxies, hop.peer);
}

/** Returns whether the peer is inside the networks; an IPv4-mapped address counts as IPv4. */
export function isTrustedProxy(trustedProxies: readonly string[], peer: string): boolean {
  const address = canonical(peer);
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
