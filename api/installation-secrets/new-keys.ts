/** New keys of a service, as values of the settings of the same names. */
import { randomBytes } from 'node:crypto';

/** Returns 32 random bytes in base64. */
export function newKey(): string {
  return randomBytes(32).toString('base64');
}

/** Returns a key ring with one new key. */
export function newKeyRing(): string {
  return `1:${newKey()}`;
}

/** Returns a new receipt key: any 32 bytes are the seed of an Ed25519 key. */
export function newReceiptKey(at: Date): string {
  return `${newKey()}@${at.toISOString()}`;
}

/** Returns a random word of letters, digits, `-` and `_`, which needs no escaping in URLs. */
export function newPassword(): string {
  return randomBytes(32).toString('base64url');
}
