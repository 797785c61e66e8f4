import { describe, expect, it } from 'vitest';
import { checkedEmail } from '#api/users/email-address.ts';

describe('checkedEmail', () => {
  it.each([
    [' Ada@Example.com ', 'ada@example.com'],
    ['a+b@例え.jp', 'a+b@例え.jp'],
    [`${'a'.repeat(188)}@example.com`, `${'a'.repeat(188)}@example.com`],
  ])('returns for %j the address %s', (email, address) => {
    expect(checkedEmail(email)).toBe(address);
  });

  it.each([
    '',
    'ada',
    '@example.com',
    'ada@',
    'a da@example.com',
    'a@b@c',
    '<a@b>',
    'a\u202eb@example.com',
    `${'a'.repeat(189)}@example.com`,
  ])('refuses %j', (email) => {
    expect(() => checkedEmail(email)).toThrow(expect.objectContaining({ code: 'bad_request', param: 'email' }));
  });
});
