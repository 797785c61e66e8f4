import { describe, expect, it } from 'vitest';
import { holdsNul } from '#api/http/nul-character.ts';

describe('holdsNul', () => {
  it.each([['a\0b'], [{ name: '\0' }], [{ 'a\0': 1 }], [[{ deep: ['x', { er: '\0' }] }]]])(
    'finds it in %j',
    (value) => {
      expect(holdsNul(value)).toBe(true);
    },
  );

  it.each([['\\u0000'], [''], [null], [0], [{ a: [1, 'b', { c: null }] }]])('finds none in %j', (value) => {
    expect(holdsNul(value)).toBe(false);
  });

  it('looks into a value that is nested deeper than the stack', () => {
    let value: unknown = '\0';
    for (let depth = 0; depth < 30_000; depth += 1) value = [value];
    expect(holdsNul(value)).toBe(true);
  });
});
