import { describe, expect, it } from 'vitest';
import { cameOverHttps, clientAddress } from '#api/http/request-address.ts';

const proxies = ['10.0.0.0/8', 'fd00::/8'];
const hop = (peer: string, forwardedFor?: string, forwardedProto?: string) => ({ peer, forwardedFor, forwardedProto });

describe('the address that a request arrives from', () => {
  // Promise, Authentication: The address is that of the peer, or the one that a trusted proxy reports
  // Promise, Bad input, case by case: Forged proxy headers, plain http
  it.each([
    ['the peer', hop('203.0.113.9'), '203.0.113.9'],
    ['an IPv4-mapped peer as IPv4', hop('::ffff:203.0.113.9'), '203.0.113.9'],
    ['a peer without its zone', hop('fe80::1%eth0'), 'fe80::1'],
    ['the peer when an untrusted sender claims another', hop('203.0.113.9', '198.51.100.1'), '203.0.113.9'],
    ['the address that a trusted proxy reports', hop('10.0.0.1', '198.51.100.1'), '198.51.100.1'],
    [
      'the nearest untrusted address through two proxies',
      hop('10.0.0.1', '6.6.6.6, 198.51.100.1, 10.0.0.2'),
      '198.51.100.1',
    ],
    ['the proxy when it reports nothing', hop('10.0.0.1'), '10.0.0.1'],
    ['the proxy when its report is invalid', hop('10.0.0.1', 'nonsense'), '10.0.0.1'],
  ])('is %s', (_name, given, address) => {
    expect(clientAddress(proxies, given)).toBe(address);
  });
});

describe('the scheme that a request came with', () => {
  // Promise, Bad input, case by case: Forged proxy headers, plain http
  it.each([
    [hop('10.0.0.1', undefined, 'https'), true],
    [hop('10.0.0.1', undefined, 'http'), false],
    [hop('10.0.0.1', undefined, 'https, http'), false],
    [hop('203.0.113.9', undefined, 'https'), false],
    [hop('10.0.0.1'), false],
  ])('of %j is https: %s', (given, expected) => {
    expect(cameOverHttps(proxies, given)).toBe(expected);
  });
});
