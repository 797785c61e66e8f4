import { describe, expect, it } from 'vitest';
import { containsUnstorable } from '#api/fields/unstorable-text.ts';

describe('containsUnstorable', () => {
  it.each([['a\0b'], [{ name: '\0' }], [{ 'a\0': 1 }], [[{ deep: ['x', { er: '\0' }] }]], ['a\ud83d'], [['\ude00']]])(
    'finds U+0000 and halves of surrogate pairs in %j',
    (value) => {
      expect(containsUnstorable(value)).toBe(true);
    },
  );

  it.each([['\\u0000'], [''], [null], [0], [{ a: [1, 'b😀', { c: null }] }]])('finds neither in %j', (value) => {
    expect(containsUnstorable(value)).toBe(false);
  });

  it('searches a value that is nested deeper than the call stack', () => {
    let value: unknown = '\0';
    for (let depth = 0; depth < 30_000; depth += 1) value = [value];
    expect(containsUnstorable(value)).toBe(true);
  });
});
