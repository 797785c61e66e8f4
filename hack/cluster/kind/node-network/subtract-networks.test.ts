import { describe, expect, it } from 'vitest';
import { subtractNetworks } from './subtract-networks.ts';

describe('subtractNetworks', () => {
  it.each([
    ['10.0.0.0/8', [], ['10.0.0.0/8']],
    ['10.0.0.0/8', ['192.168.0.0/16'], ['10.0.0.0/8']],
    ['10.0.0.0/8', ['0.0.0.0/0'], []],
    ['10.0.0.0/8', ['10.0.0.0/8'], []],
    ['10.1.2.3/32', ['10.1.2.3/32'], []],
    ['10.0.0.0/8', ['10.128.0.0/9'], ['10.0.0.0/9']],
    ['192.168.0.77/30', ['192.168.0.77/32'], ['192.168.0.76/32', '192.168.0.78/31']],
    ['0.0.0.0/0', ['128.0.0.0/2', '0.0.0.0/1'], ['192.0.0.0/2']],
  ])('%s without %j', (from, less, left) => {
    expect(subtractNetworks(from, less)).toEqual(left);
  });

  it('leaves every address but those that were taken', () => {
    const left = subtractNetworks('0.0.0.0/0', ['10.0.0.0/8', '169.254.0.0/16']);
    const sizes = left.map((network) => 2 ** (32 - Number(network.split('/')[1])));
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(2 ** 32 - 2 ** 24 - 2 ** 16);
    expect(left).toContain('11.0.0.0/8');
    expect(left).toContain('169.255.0.0/16');
  });

  it('refuses text that is not an IPv4 network', () => {
    expect(() => subtractNetworks('fd00::/8', [])).toThrow('fd00::/8 is not an IPv4 network');
  });
});
