import { describe, expect, it } from 'vitest';
import { newTotpSecret, stepOfCode, totpAddress } from '#api/users/totp.ts';
import { randomWord } from '#crds/contract/ids.ts';

/** Secret of RFC 6238, appendix B: `12345678901234567890`. */
const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';

describe('a one-time code', () => {
  it.each([
    [59, '287082'],
    [1_111_111_109, '081804'],
    [1_111_111_111, '050471'],
    [1_234_567_890, '005924'],
    [2_000_000_000, '279037'],
    [20_000_000_000, '353130'],
  ])('of RFC 6238 is valid: at %i seconds it is %s', (seconds, code) => {
    expect(stepOfCode(SECRET, code, new Date(seconds * 1000))).toBe(Math.floor(seconds / 30));
  });

  it('is valid in the adjacent time steps only', () => {
    const step = 37_037_036;
    const at = (steps: number) => stepOfCode(SECRET, '081 804', new Date((step + steps) * 30_000));
    expect([at(0), at(-1), at(1)]).toEqual([step, step, step]);
    expect([at(-2), at(2)]).toEqual([null, null]);
  });

  it.each(['', '12345', '1234567', 'abcdef', '２８７０８２'])('is never %j', (text) => {
    expect(stepOfCode(SECRET, text, new Date(59_000))).toBeNull();
  });

  it('has a random secret of 160 bits and an otpauth URL', () => {
    const secret = newTotpSecret(randomWord);
    expect(secret).toMatch(/^[A-Z2-7]{32}$/);
    expect(totpAddress(secret, { email: 'a b@example.com', name: 'Media: A & B' })).toBe(
      `otpauth://totp/Media%20%20A%20%26%20B:a%20b%40example.com?secret=${secret}&issuer=Media%20%20A%20%26%20B`,
    );
  });
});
