import { InvalidArgumentError } from 'commander';
import { describe, expect, it } from 'vitest';
import { eachOf, usdOrNone } from '#api/mediactl/arguments.ts';

describe('a repeatable option', () => {
  it('collects its values in order', () => {
    const parse = eachOf(['video', 'heic_output']);
    expect(parse('heic_output', parse('video', undefined))).toEqual(['video', 'heic_output']);
  });

  it('refuses a value that is not in its list, and names the list', () => {
    expect(() => eachOf(['video'])('audio', undefined)).toThrow('Allowed choices are video.');
  });

  it('accepts every value without a list', () => {
    expect(eachOf(null)('192.0.2.0/24', undefined)).toEqual(['192.0.2.0/24']);
  });
});

describe('an amount in dollars', () => {
  it.each<[string, number | 'none']>([
    ['12.50', 12_500_000],
    ['0', 0],
    ['none', 'none'],
  ])('is parsed from %s', (sent, expected) => {
    expect(usdOrNone(sent)).toBe(expected);
  });

  it.each(['-1', '1.0000001', 'much', ''])('is refused as %j, with the form to use', (sent) => {
    expect(() => usdOrNone(sent)).toThrow(InvalidArgumentError);
    expect(() => usdOrNone(sent)).toThrow('such as 12.50, or none');
  });
});
