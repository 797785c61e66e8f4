import { createHash } from 'node:crypto';

/**
 * Returns the opaque identifier of those whose files one engine process may open: an account, or a part of one. An account
 * id has 100 random bits, so the hash does not reveal it.
 */
export function tenantOf(...parts: readonly string[]): string {
  return createHash('sha256').update(parts.join(' ')).digest('base64url');
}
