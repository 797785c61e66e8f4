import { expect, it } from 'vitest';
import { savingsPercent } from '#crds/catalogue/savings.ts';

// Promise, Conventions and objects: Result object, in the header on one line of printable ASCII
it.each([
  [1000, 600, 40],
  [3, 2, 33.3],
  [1000, 1000, 0],
  [100_000, 99_999, 0],
  [100_000, 100_001, 0],
  [100, 250, -150],
  [0, 10, 0],
])('savingsPercent of %i and %i bytes is %d', (original, output, percent) => {
  expect(savingsPercent(original, output)).toBe(percent);
});
