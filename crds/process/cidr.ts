import ipaddr from 'ipaddr.js';
import { isIP } from 'node:net';

/**
 * Returns true when a text is a CIDR range such as `10.0.0.0/8`. Stricter than ipaddr.js, which also parses zones,
 * octal numbers and addresses of fewer than four parts.
 */
export function isCidr(entry: string): boolean {
  const [host = ''] = entry.split('/');
  return isIP(host) !== 0 && !host.includes('%') && ipaddr.isValidCIDR(entry);
}
