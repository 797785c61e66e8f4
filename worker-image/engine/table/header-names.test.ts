import { describe, expect, it } from 'vitest';
import { headerNames } from '#worker-image/engine/table/header-names.ts';

describe('headerNames', () => {
  it.each([
    [
      ['a', 'b'],
      ['a', 'b'],
    ],
    [
      ['', 'a', ''],
      ['column_1', 'a', 'column_3'],
    ],
    [
      ['a', 'a', 'a'],
      ['a', 'a_2', 'a_3'],
    ],
    [
      ['a', 'a_2', 'a'],
      ['a', 'a_2', 'a_3'],
    ],
    [
      ['a', 'a', 'a_2'],
      ['a', 'a_2', 'a_2_2'],
    ],
    [
      ['column_2', ''],
      ['column_2', 'column_2_2'],
    ],
    [
      ['__proto__', '__proto__'],
      ['__proto__', '__proto___2'],
    ],
    [[], []],
  ])('of %j are %j', (cells, names) => {
    expect(headerNames(cells)).toEqual(names);
  });

  it('names 16,384 equal columns without a search for each', () => {
    const names = headerNames(Array.from({ length: 16_384 }, () => 'a'));
    expect([new Set(names).size, names.at(-1)]).toEqual([16_384, 'a_16384']);
  });
});
