import ipaddr from 'ipaddr.js';

/** Prefix length of the IPv6 network of one household or server, which may use every address in it. */
const IPV6_BITS = 64;

/** Returns the network that a caller's attempts are counted for: the IPv4 address, or the /64 of an IPv6 address. */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/${IPV6_BITS}`).toString()}/${IPV6_BITS}`;
}
