import { describe, expect, it } from 'vitest';
import { containsNul } from '#api/fields/nul-character.ts';

describe('containsNul', () => {
  it.each([['a\0b'], [{ name: '\0' }], [{ 'a\0': 1 }], [[{ deep: ['x', { er: '\0' }] }]]])(
    'finds U+0000 in %j',
    (value) => {
      expect(containsNul(value)).toBe(true);
    },
  );

  it.each([['\\u0000'], [''], [null], [0], [{ a: [1, 'b', { c: null }] }]])('finds no U+0000 in %j', (value) => {
    expect(containsNul(value)).toBe(false);
  });

  it('searches a value that is nested deeper than the call stack', () => {
    let value: unknown = '\0';
    for (let depth = 0; depth < 30_000; depth += 1) value = [value];
    expect(containsNul(value)).toBe(true);
  });
});
