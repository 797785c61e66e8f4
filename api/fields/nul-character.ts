/** Refusal of U+0000 in requests. No name, id or value needs it, and PostgreSQL rejects text that contains it. */
import { MediaError } from '#crds/contract/media-error.ts';

const NUL = '\0';

/** Returns whether any string in the value contains U+0000, including field names. */
export function containsNul(value: unknown): boolean {
  // Iterative: a body may be nested deeper than the stack allows.
  const pending: unknown[] = [value];
  while (pending.length > 0) {
    const next = pending.pop();
    if (typeof next === 'string' && next.includes(NUL)) return true;
    if (typeof next !== 'object' || next === null) continue;
    for (const entry of Object.entries(next)) pending.push(...entry);
  }
  return false;
}

/** Returns the error for a request with U+0000. @param where the part of the request: "address" or "body". */
export function nulCharacterError(where: string): MediaError {
  return new MediaError('bad_request', `The ${where} contains the character U+0000, which is not allowed. Remove it.`);
}
