/**
 * Signed URLs: HMAC-SHA256 over method, path and time of expiry. The query of a link contains only `expires` (Unix
 * seconds) and `signature` (base64url). The first key of the ring signs and every key verifies, so that a key can be
 * replaced while old links are valid.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { RingKey } from '#crds/process/ring-key.ts';

export interface UrlToSign {
  readonly method: 'GET' | 'PUT';
  /** Scheme and host, with or without a path of its own that is not signed (a proxy's prefix). */
  readonly base: string;
  /** Path from the first slash, as the server receives it. */
  readonly path: string;
  /** Time of expiry in Unix seconds. */
  readonly expires: number;
}

export interface UrlToVerify {
  readonly method: string;
  readonly path: string;
  /** Text after the first question mark, as received. */
  readonly query: string;
  readonly now: Date;
}

/** Returns the URL with `expires` and `signature`: docs/reference/jobs.md#download. */
export function signUrl(keys: readonly RingKey[], url: UrlToSign): string {
  const [first] = keys;
  if (first === undefined) throw new Error('a key ring needs at least one key');
  const expires = String(url.expires);
  const signature = sign(first, { method: url.method, path: url.path, expires });
  return `${url.base.replace(/\/+$/, '')}${url.path}?expires=${expires}&signature=${signature}`;
}

/**
 * Returns 'invalid' when any part differs from the signed one, and 'expired' when only the time has passed. Compares in
 * constant time. The query must be identical to the signed text: an empty, repeated or reordered parameter is invalid.
 */
export function verifySignedUrl(keys: readonly RingKey[], url: UrlToVerify): 'valid' | 'invalid' | 'expired' {
  const [, expires, signature] = QUERY.exec(url.query) ?? [];
  if (expires === undefined || signature === undefined) return 'invalid';
  const { method, path } = url;
  // Every key is tried, so that the duration does not reveal which one matched.
  const matching = keys.filter((key) => isEqual(sign(key, { method, path, expires }), signature));
  if (matching.length === 0) return 'invalid';
  return url.now.getTime() < Number(expires) * 1000 ? 'valid' : 'expired';
}

/** Splits a request's target at its first question mark, without decoding. */
export function splitTarget(target: string): { readonly path: string; readonly query: string } {
  const at = target.indexOf('?');
  return at === -1 ? { path: target, query: '' } : { path: target.slice(0, at), query: target.slice(at + 1) };
}

/** Query that `signUrl` creates: seconds, and a SHA-256 in base64url. */
const QUERY = /^expires=([1-9]\d{0,11})&signature=([\w-]{43})$/;

function sign(key: RingKey, parts: { method: string; path: string; expires: string }): string {
  const text = ['mediajobs-url-v1', parts.method, parts.path, parts.expires].join('\n');
  return createHmac('sha256', key.key).update(text).digest('base64url');
}

/** Compares texts, not decoded bytes: base64 has several spellings of the same bytes. */
function isEqual(expected: string, given: string): boolean {
  const expectedBytes = Buffer.from(expected);
  const givenBytes = Buffer.from(given);
  return expectedBytes.length === givenBytes.length && timingSafeEqual(expectedBytes, givenBytes);
}
