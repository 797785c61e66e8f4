import { expect, it } from 'vitest';
import { isOlder } from '#crds/kube/kube-object.ts';

it.each([
  ['9', '10', true],
  ['10', '9', false],
  ['10', '10', false],
  ['9007199254740993', '9007199254740994', true],
  ['v1', '2', null],
  ['1', '', null],
])('isOlder compares the versions %s and %s as numbers: %j', (version, than, expected) => {
  expect(isOlder(version, than)).toBe(expected);
});
