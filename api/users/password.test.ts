import { describe, expect, it } from 'vitest';
import { checkedPassword, hashPassword, isPassword } from '#api/users/password.ts';

describe('a stored password', () => {
  it('is an argon2id hash with its own salt that matches the password only', async () => {
    const [one, other] = await Promise.all([hashPassword('correct horse'), hashPassword('correct horse')]);
    expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    expect(other).not.toBe(one);
    expect(await isPassword('correct horse', one)).toBe(true);
    expect(await isPassword('Correct horse', one)).toBe(false);
  });

  it('matches any Unicode composition of the same letters', async () => {
    expect(await isPassword('cafe\u0301 au lait', await hashPassword('caf\u00e9 au lait'))).toBe(true);
  });

  it('matches no text when none was set', async () => {
    expect(await isPassword('', null)).toBe(false);
  });

  it('throws when it is not an argon2id hash of this form', async () => {
    await expect(isPassword('x', '$2b$10$bcrypt')).rejects.toThrow('not an argon2id hash');
  });
});

describe('a new password', () => {
  it.each([
    ['short', 'It has 5 characters; use 12 to 200.'],
    ['x'.repeat(201), 'It has 201 characters; use 12 to 200.'],
    ['abababababababab', 'It repeats few characters; use at least 5 different ones.'],
    ['Somebody@Example.com', 'It is the e-mail address; choose one that nobody can guess.'],
  ])('must not be %s', (password, message) => {
    expect(() => checkedPassword(password, { email: 'somebody@example.com' })).toThrow(message);
  });

  it('may be any other text of at least twelve characters', () => {
    expect(checkedPassword('12 quiet owls', { email: 'a@example.com' })).toBe('12 quiet owls');
  });
});
