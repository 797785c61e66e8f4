import { createHash, randomBytes } from 'node:crypto';

/** Returns a token of 256 random bits for a cookie or a link. */
export function newToken(): string {
  return randomBytes(32).toString('base64url');
}

/** Returns the digest that is stored for a token, so that a copy of the database contains no valid token. */
export function tokenDigest(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
