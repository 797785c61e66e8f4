import { expect, it } from 'vitest';
import { isCidr } from '#crds/process/cidr.ts';

it.each([
  ['10.0.0.0/8', true],
  ['fd00::/8', true],
  ['0.0.0.0/0', true],
  ['fe80::%eth0/64', false],
  ['fe80::/64%eth0', false],
  ['10.0.0/8', false],
  ['010.0.0.0/8', false],
  ['0x0a.0.0.0/8', false],
  ['10.0.0.0/33', false],
  ['10.0.0.0', false],
])('isCidr of %s returns %s', (text, expected) => {
  expect(isCidr(text)).toBe(expected);
});
