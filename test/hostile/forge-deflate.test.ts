import { deflateSync, inflateRawSync, inflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { deflateEqualBytes, deflateRuns, equalBytes } from '#test/hostile/forge-deflate.ts';

describe('deflateRuns', () => {
  it('returns a stream of the runs one after the other', () => {
    const [one, other] = [Buffer.from('<a>'), Buffer.from('<si><t>x</t></si>')];
    const raw = deflateRuns([
      { data: one, times: 1 },
      { data: other, times: 3 },
    ]);
    expect(inflateRawSync(raw).toString()).toBe(`<a>${'<si><t>x</t></si>'.repeat(3)}`);
  });
});

describe('deflateEqualBytes', () => {
  it.each([
    [0, 0],
    [1, 0x20],
    [65_600, 0xff],
    [3 * 1024 ** 2 + 5, 0x20],
  ])('returns %i bytes of the value %i with the checksum of zlib', (count, value) => {
    const plain = Buffer.alloc(count, value);
    expect(inflateSync(deflateEqualBytes(count, value)).equals(plain)).toBe(true);
    expect(deflateEqualBytes(count, value).subarray(-4)).toEqual(deflateSync(plain).subarray(-4));
    expect(equalBytes(count, value).reduce((sum, { data, times }) => sum + data.length * times, 0)).toBe(count);
  });
});
