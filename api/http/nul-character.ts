/** U+0000 in what a caller sends: no name, id or value needs it, and PostgreSQL takes no text that holds it. */
import { MediaError } from '#crds/media-error.ts';

const NUL = '\0';

/** Whether a string anywhere in the value, names of fields included, holds the character. */
export function holdsNul(value: unknown): boolean {
  // A list of what is due: a body may be nested deeper than the stack allows.
  const due: unknown[] = [value];
  while (due.length > 0) {
    const next = due.pop();
    if (typeof next === 'string' && next.includes(NUL)) return true;
    if (typeof next !== 'object' || next === null) continue;
    for (const entry of Object.entries(next)) due.push(...entry);
  }
  return false;
}

/** The refusal of it. `where` reads "address" or "body". */
export function nulCharacter(where: string): MediaError {
  return new MediaError('bad_request', `The ${where} holds the character U+0000, which is not allowed. Remove it.`);
}
