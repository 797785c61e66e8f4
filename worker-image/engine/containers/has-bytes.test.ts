import { expect, it } from 'vitest';
import { hasBytes } from '#worker-image/engine/containers/has-bytes.ts';

it.each([
  ['\x89PNG', '\x89PNG', 0, true],
  ['ab\xff', '\xff', 2, true],
  ['ab', 'b', 0, false],
  ['ab', 'abc', 0, false],
  ['ab', 'b', 2, false],
  ['', '', 0, true],
])('hasBytes: %j has %j at %i: %s', (content, bytes, offset, expected) => {
  expect(hasBytes(Buffer.from(content, 'latin1'), bytes, offset)).toBe(expected);
});
