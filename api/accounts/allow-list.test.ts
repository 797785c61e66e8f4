import { describe, expect, it } from 'vitest';
import { isAllowed, parseAllowList } from '#api/accounts/allow-list.ts';
import { MediaError } from '#crds/contract/media-error.ts';

describe('isAllowed', () => {
  // Promise, Bad input, case by case: Address families
  it.each([
    ['an empty list allows any address', [], '203.0.113.9', true],
    ['an address allows itself', ['203.0.113.9'], '203.0.113.9', true],
    ['an address allows no other', ['203.0.113.9'], '203.0.113.10', false],
    ['a range allows its first address', ['10.0.0.0/8'], '10.0.0.0', true],
    ['a range allows its last address', ['10.0.0.0/8'], '10.255.255.255', true],
    ['a range ends', ['10.0.0.0/8'], '11.0.0.0', false],
    ['one match among several suffices', ['10.0.0.0/8', '192.0.2.1'], '192.0.2.1', true],
    ['an IPv6 range allows IPv6', ['2001:db8::/32'], '2001:db8:ffff::1', true],
    ['all of IPv6 allows no IPv4', ['::/0'], '203.0.113.9', false],
    ['all of IPv6 allows no mapped IPv4', ['::/0'], '::ffff:203.0.113.9', false],
    ['all of IPv4 allows no IPv6', ['0.0.0.0/0'], '2001:db8::1', false],
    ['a mapped client is the IPv4 address', ['10.0.0.0/8'], '::ffff:10.1.2.3', true],
    ['a mapped client in hexadecimal too', ['10.0.0.0/8'], '::ffff:a01:203', true],
    ['another spelling of an IPv6 address matches', ['2001:db8::1'], '2001:0DB8:0:0:0:0:0:1', true],
    ['a zone does not matter', ['fe80::/10'], 'fe80::1%eth0', true],
    ['a text that is not an address is refused', ['0.0.0.0/0', '::/0'], 'unknown', false],
  ])('%s', (_rule, allowList, address, allowed) => {
    expect(isAllowed(allowList, address)).toBe(allowed);
  });
});

describe('parseAllowList', () => {
  it.each([
    ['10.1.2.3/8', '10.0.0.0/8'],
    ['203.0.113.9', '203.0.113.9'],
    ['203.0.113.9/32', '203.0.113.9/32'],
    [' 192.0.2.0/24 ', '192.0.2.0/24'],
    ['2001:0DB8::0001', '2001:db8::1'],
    ['2001:db8:ffff::1/32', '2001:db8::/32'],
    ['::/0', '::/0'],
    ['::ffff:10.1.2.3', '10.1.2.3'],
    ['::ffff:10.1.2.3/104', '10.0.0.0/8'],
  ])('normalizes %s to %s', (entry, canonical) => {
    expect(parseAllowList([entry])).toStrictEqual([canonical]);
  });

  it.each([
    '',
    'example.com',
    '10.0.0',
    '0x7f.1',
    '010.0.0.1',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '10.0.0.0/08',
    '10.0.0.0/+8',
    '10.0.0.0/8 /8',
    '10.0.0.0 /8',
    '10.0.0.1,10.0.0.2',
    '0/0',
    '::/129',
    '[2001:db8::1]',
    '2001:db8:::1',
    '::ffff:010.0.0.1',
    '::10.0.0.1',
    '::10.0.0.0/104',
    '/8',
  ])('refuses `%s`', (entry) => {
    expect(() => parseAllowList([entry])).toThrow(MediaError);
  });

  it.each(['fe80::1%eth0', 'fe80::1%1', 'fe80::%eth0/64', 'fe80::/64%eth0', 'fe80::1%', 'fe80::1%25eth0'])(
    'refuses `%s` and names its zone as the reason',
    (entry) => {
      expect(() => parseAllowList([entry])).toThrow('has an IPv6 zone (the part after `%`)');
    },
  );

  // Promise, Authentication: Allow-list by family, mapped addresses as IPv4, 20 entries, every request
  it('accepts 20 entries, refuses 21, and counts the same range once', () => {
    const entries = Array.from({ length: 21 }, (_, i) => `10.0.0.${i}`);
    expect(parseAllowList(entries.slice(1))).toHaveLength(20);
    expect(() => parseAllowList(entries)).toThrow('21 entries; a key may have 20 at most');
    expect(parseAllowList(['10.1.0.0/8', '10.2.0.0/8'])).toStrictEqual(['10.0.0.0/8']);
  });
});
