/**
 * Addresses that a key may be used from. An IPv4 range matches only IPv4 addresses, an IPv6 range only IPv6 ones. An
 * IPv4-mapped IPv6 address is compared as the IPv4 address that it contains. See docs/reference/basics.md#allow-list.
 */
import ipaddr from 'ipaddr.js';
import { isIP } from 'node:net';
import { MediaError } from '#crds/contract/media-error.ts';
import { LIMITS } from '#crds/catalogue/plans.ts';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Returns true when the list is empty or covers the client's address as the socket or the trusted proxy reports it. */
export function isAllowed(allowList: readonly string[], address: string): boolean {
  if (allowList.length === 0) return true;
  const withoutZone = address.replace(/%.*$/, '');
  if (!ipaddr.isValid(withoutZone)) return false;
  const client = ipaddr.process(withoutZone);
  return allowList.some((entry) => covers(entry, client));
}

/**
 * Returns the entries in canonical form (`10.1.2.3/8` → `10.0.0.0/8`), without duplicates.
 * @throws MediaError bad_request for more than 20 entries or one that is neither an address nor a CIDR range.
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
  if (entry.includes('%')) throw zoneRefusal(entry);
  const [host = '', length] = entry.trim().split('/', 2);
  if (!isPlainAddress(host)) throw entryRefusal(entry);
  const address = ipaddr.parse(host);
  if (length === undefined) return canonicalText(ipaddr.process(host));
  const bits = /^(0|[1-9]\d{0,2})$/.test(length) ? Number(length) : Number.NaN;
  if (entry.split('/').length > 2 || !(bits <= hostRange(address)[1])) throw entryRefusal(entry);
  return canonicalRange(address, bits);
}

/**
 * Returns false for spellings that are probably mistakes. ipaddr.js also parses `127.1`, `0x7f.1` and octal `010`, and
 * treats the IPv4-compatible `::1.2.3.4` as the IPv4-mapped `::ffff:1.2.3.4`.
 */
function isPlainAddress(text: string): boolean {
  return isIP(text) !== 0 && !/^::\d+\./.test(text);
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

/** Returns the refusal of a zone. RFC 4007: it names an interface of the caller's machine, which is unknown here. */
function zoneRefusal(entry: string): MediaError {
  return new MediaError(
    'bad_request',
    `\`${entry.slice(0, 100)}\` has an IPv6 zone (the part after \`%\`), which names an interface of one machine. Give the address without it.`,
    { param: 'allow_list' },
  );
}

function entryRefusal(entry: string): MediaError {
  return new MediaError(
    'bad_request',
    `\`${entry.slice(0, 100)}\` is neither an IP address nor a CIDR range such as 203.0.113.0/24 or 2001:db8::/32.`,
    { param: 'allow_list' },
  );
}
