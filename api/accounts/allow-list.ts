/**
 * The addresses that a key may be used from. Families never mix: an IPv4 range matches only IPv4
 * addresses, an IPv6 range only IPv6 ones; an IPv4-mapped IPv6 address is the IPv4 address that it holds.
 * Spec: Authentication 6.
 */
import ipaddr from 'ipaddr.js';
import { MediaError } from '#crds/media-error.ts';
import { LIMITS } from '#crds/plans.ts';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Takes the client's address as the socket or the trusted proxy gave it. An empty list allows any. */
export function isAllowed(allowList: readonly string[], address: string): boolean {
  if (allowList.length === 0) return true;
  const withoutZone = address.replace(/%.*$/, '');
  if (!ipaddr.isValid(withoutZone)) return false;
  const client = ipaddr.process(withoutZone);
  return allowList.some((entry) => covers(entry, client));
}

/**
 * The entries in canonical form (`10.1.2.3/8` → `10.0.0.0/8`), each once.
 * @throws MediaError bad_request for more than 20 entries or one that is no address and no CIDR.
 */
export function parseAllowList(entries: readonly string[]): string[] {
  const canonical = [...new Set(entries.map((entry) => canonicalEntry(entry)))];
  if (canonical.length > LIMITS.allowListEntries) {
    throw new MediaError(
      'bad_request',
      `The allow-list has ${canonical.length} entries; a key may have ${LIMITS.allowListEntries} at most. Join addresses into CIDR ranges.`,
      { param: 'allow_list' },
    );
  }
  return canonical;
}

function covers(entry: string, client: Address): boolean {
  const [network, bits] = entry.includes('/') ? ipaddr.parseCIDR(entry) : hostRange(ipaddr.parse(entry));
  return network.kind() === client.kind() && client.match(network, bits);
}

function hostRange(address: Address): [Address, number] {
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}

const MAPPED_PREFIX_BITS = 96;

function canonicalEntry(entry: string): string {
  const [host = '', length] = entry.trim().split('/', 2);
  if (!isPlainAddress(host)) throw badEntry(entry);
  const address = ipaddr.parse(host);
  if (length === undefined) return canonicalText(ipaddr.process(host));
  const bits = /^\d{1,3}$/.test(length) ? Number(length) : Number.NaN;
  if (entry.split('/').length > 2 || !(bits <= hostRange(address)[1])) throw badEntry(entry);
  return canonicalRange(address, bits);
}

/** ipaddr.js also reads `127.1` and `0x7f.1`, which people write by mistake, not on purpose. */
function isPlainAddress(text: string): boolean {
  return (
    ipaddr.IPv4.isValidFourPartDecimal(text) || (text.includes(':') && !text.includes('%') && ipaddr.IPv6.isValid(text))
  );
}

function canonicalRange(address: Address, bits: number): string {
  if (address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && bits >= MAPPED_PREFIX_BITS) {
    return canonicalRange(address.toIPv4Address(), bits - MAPPED_PREFIX_BITS);
  }
  const network =
    address instanceof ipaddr.IPv4
      ? ipaddr.IPv4.networkAddressFromCIDR(`${address.toString()}/${bits}`)
      : ipaddr.IPv6.networkAddressFromCIDR(`${address.toString()}/${bits}`);
  return `${canonicalText(network)}/${bits}`;
}

function canonicalText(address: Address): string {
  return address instanceof ipaddr.IPv6 ? address.toRFC5952String() : address.toString();
}

function badEntry(entry: string): MediaError {
  return new MediaError(
    'bad_request',
    `\`${entry.slice(0, 100)}\` is neither an IP address nor a CIDR range such as 203.0.113.0/24 or 2001:db8::/32.`,
    { param: 'allow_list' },
  );
}
