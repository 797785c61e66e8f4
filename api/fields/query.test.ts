import { describe, expect, it } from 'vitest';
import { queryNumber, readQuery } from '#api/fields/query.ts';

describe('readQuery', () => {
  it('returns the parameters by name', () => {
    expect([...readQuery(new URLSearchParams('a=1&b=%20&c='))]).toEqual([
      ['a', '1'],
      ['b', ' '],
      ['c', ''],
    ]);
  });

  it('refuses a repeated name, also with the same value', () => {
    expect(() => readQuery(new URLSearchParams('a=1&b=2&a=1'))).toThrow(
      expect.objectContaining({ code: 'bad_request', param: 'a' }),
    );
  });
});

describe('queryNumber', () => {
  const number = queryNumber({ min: 1, max: 100 });

  it.each([
    ['1', 1],
    ['100', 100],
    ['007', 7],
  ])('parses %s as %i', (text, value) => {
    expect(number.parse(text)).toBe(value);
  });

  it.each(['', '0', '101', '-1', '+1', '1.0', '1e1', '0x1', ' 1', '١', '1'.repeat(16)])('refuses "%s"', (text) => {
    expect(number.safeParse(text).success).toBe(false);
  });
});
