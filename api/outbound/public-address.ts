/**
 * IP addresses that URLs of callers may resolve to: public unicast, and the private networks that the operator allows.
 * An IPv4-mapped IPv6 address counts as the IPv4 address in it. Otherwise networks contain only addresses of their own
 * family.
 */
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Network = [Address, number];

/** Returns whether the text is a public unicast address. */
export function isPublicAddress(text: string): boolean {
  const address = parseAddress(text);
  if (address === null || address.range() !== 'unicast') return false;
  const isIpv4 = address.kind() === 'ipv4';
  return (isIpv4 || matches(address, GLOBAL_UNICAST)) && !NEVER_PUBLIC.some((network) => matches(address, network));
}

/** Returns whether the address is in one of the networks (CIDRs). */
export function isInNetworks(text: string, networks: readonly string[]): boolean {
  const address = parseAddress(text);
  return address !== null && networks.some((network) => matches(address, parseNetwork(network)));
}

/** Returns the IP address of a URL's host, without brackets; null when the host is a name. */
export function addressOfHost(host: string): string | null {
  const bare = host.replace(/^\[(.*)\]$/, '$1');
  return ipaddr.isValid(bare) ? bare : null;
}

/** Returns the address in canonical form; null when it is no IP address. */
export function canonicalAddress(text: string): string | null {
  return parseAddress(text)?.toString() ?? null;
}

const GLOBAL_UNICAST: Network = ipaddr.parseCIDR('2000::/3');

/** Ranges without public hosts. They repeat the library's table, so that a change of it does not allow one. */
const NEVER_PUBLIC: readonly Network[] = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10', // carrier-grade NAT, also used for cloud metadata
  '127.0.0.0/8',
  '169.254.0.0/16', // link-local: cloud metadata
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/96', // IPv4-compatible
  '64:ff9b::/96', // NAT64: an IPv4 address inside
  '64:ff9b:1::/48',
  '2001::/23', // Teredo, benchmarking, ORCHID
  '2001:db8::/32',
  '2002::/16', // 6to4: an IPv4 address inside
  '3fff::/20',
  '5f00::/16',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
].map((network) => ipaddr.parseCIDR(network));

/** IPv4-compatible form `::a.b.c.d`, which the library parses as IPv4-mapped. Such an address counts as invalid. */
const IPV4_COMPATIBLE = /^::\d+\.\d/;

function parseAddress(text: string): Address | null {
  return ipaddr.isValid(text) && !IPV4_COMPATIBLE.test(text) ? ipaddr.process(text) : null;
}

function parseNetwork(text: string): Network {
  const [address, bits] = ipaddr.parseCIDR(text);
  const isMapped = address.kind() === 'ipv6' && (address as ipaddr.IPv6).isIPv4MappedAddress() && bits >= 96;
  return isMapped ? [(address as ipaddr.IPv6).toIPv4Address(), bits - 96] : [address, bits];
}

function matches(address: Address, [network, bits]: Network): boolean {
  if (address.kind() === 'ipv4') return network.kind() === 'ipv4' && address.match(network, bits);
  return network.kind() === 'ipv6' && address.match(network, bits);
}
