import { describe, expect, it } from 'vitest';
import { isAtLeast, ROLES } from '#api/users/user.ts';

describe('isAtLeast', () => {
  it.each([
    ['owner', ['owner', 'developer', 'read_only']],
    ['developer', ['developer', 'read_only']],
    ['read_only', ['read_only']],
  ] as const)('%s has the rights of %j only', (role, included) => {
    expect(ROLES.filter((needed) => isAtLeast(role, needed))).toEqual(included);
  });
});
