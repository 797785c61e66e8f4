/** Time-based one-time codes of authenticator apps: SHA-1, six digits, 30 seconds (RFC 6238). */
import { Secret, TOTP } from 'otpauth';

const STEP_SECONDS = 30;
/** Length of a secret: 160 bits in base32, as RFC 4226 recommends. */
const SECRET_CHARACTERS = 32;
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Returns a new secret in base32. */
export function newTotpSecret(newWord: (alphabet: string, length: number) => string): string {
  return newWord(BASE32, SECRET_CHARACTERS);
}

/** Returns the URL that authenticator apps read from a QR code. @param name of the installation */
export function totpAddress(secret: string, { email, name }: { email: string; name: string }): string {
  const issuer = encodeURIComponent(name.replaceAll(':', ' '));
  return `otpauth://totp/${issuer}:${encodeURIComponent(email)}?secret=${secret}&issuer=${issuer}`;
}

/**
 * Returns the time step of a code, counted from 1970: the current one or an adjacent one, because clocks differ.
 * Returns null when the code is wrong.
 */
export function stepOfCode(secret: string, code: string, now: Date): number | null {
  const digits = code.replaceAll(/\s/g, '');
  if (!/^\d{6}$/.test(digits)) return null;
  const totp = new TOTP({ secret: Secret.fromBase32(secret), algorithm: 'SHA1', digits: 6, period: STEP_SECONDS });
  const timestamp = now.getTime();
  const delta = totp.validate({ token: digits, timestamp, window: 1 });
  return delta === null ? null : totp.counter({ timestamp }) + delta;
}
