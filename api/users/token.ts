import { createHash, randomBytes } from 'node:crypto';

/** 256 random bits for a cookie or a link. */
export function newToken(): string {
  return randomBytes(32).toString('base64url');
}

/** What is stored of a token: a copy of the database signs nobody in. */
export function tokenDigest(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
