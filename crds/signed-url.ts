/**
 * Links that carry their own permission: HMAC-SHA256 over method, path and the moment of expiry.
 * Query of a link: `expires` (Unix seconds) and `signature` (base64url), nothing else. The first key of
 * the ring signs, every key verifies, so that a key can be replaced while old links still work.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { RingKey } from '#crds/shared/settings.ts';

export interface UrlToSign {
  readonly method: 'GET' | 'PUT';
  /** Scheme and host, with or without a path of its own that is not signed (a proxy's prefix). */
  readonly base: string;
  /** From the first slash, as the server will see it. */
  readonly path: string;
  /** Unix seconds. */
  readonly expires: number;
}

export interface UrlToVerify {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly now: Date;
}

/** The whole URL with `expires` and `signature`. Spec: Jobs / Rules (signed download link). */
export function signUrl(keys: readonly RingKey[], url: UrlToSign): string {
  const [first] = keys;
  if (first === undefined) throw new Error('a key ring needs at least one key');
  const expires = String(url.expires);
  const signature = sign(first, { method: url.method, path: url.path, expires });
  return `${url.base.replace(/\/+$/, '')}${url.path}?expires=${expires}&signature=${signature}`;
}

/**
 * 'invalid' when anything differs from what was signed, 'expired' when only its time has passed.
 * Compares in constant time. A repeated or an unknown parameter is invalid.
 */
export function verifySignedUrl(keys: readonly RingKey[], url: UrlToVerify): 'valid' | 'invalid' | 'expired' {
  const [expires, ...otherExpires] = url.query.getAll('expires');
  const [signature, ...otherSignatures] = url.query.getAll('signature');
  if (expires === undefined || signature === undefined) return 'invalid';
  if (otherExpires.length + otherSignatures.length > 0 || url.query.size !== 2) return 'invalid';
  if (!/^[1-9]\d{0,11}$/.test(expires)) return 'invalid';
  const { method, path } = url;
  // Every key is tried, so that the time taken does not tell which one matched.
  const matching = keys.filter((key) => isEqual(sign(key, { method, path, expires }), signature));
  if (matching.length === 0) return 'invalid';
  return url.now.getTime() < Number(expires) * 1000 ? 'valid' : 'expired';
}

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
