/**
 * Refusal of text in requests that PostgreSQL cannot store: U+0000, and half of a surrogate pair, which JSON may contain as
 * an escape. No name, id or value needs them.
 */
import { MediaError } from '#crds/contract/media-error.ts';

const NUL = '\0';

/** Returns whether any string in the value is such a text, including field names. */
export function containsUnstorable(value: unknown): boolean {
  // Iterative: a body may be nested deeper than the stack allows.
  const pending: unknown[] = [value];
  while (pending.length > 0) {
    const next = pending.pop();
    if (typeof next === 'string' && (next.includes(NUL) || !next.isWellFormed())) return true;
    if (typeof next !== 'object' || next === null) continue;
    for (const entry of Object.entries(next)) pending.push(...entry);
  }
  return false;
}

/** Returns the error for a request with such a text. @param where the part of the request: "address" or "body". */
export function unstorableText(where: string): MediaError {
  const message = `The ${where} contains U+0000 or half of a surrogate pair, which are not characters. Remove it.`;
  return new MediaError('bad_request', message);
}
