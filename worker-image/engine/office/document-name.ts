/** Name of a document whose own name cannot be shown. */
const NEUTRAL = 'document';
/** Matches names that every file system takes: neither control characters nor more than 255 bytes. */
const SIMPLE = /^[^\p{C}/\\]{1,60}$/u;

/** Returns the caller's file name without extension, which fields of the document show, or a neutral one. */
export function documentName(filename: string | null): string {
  const name = filename?.replace(/\.\w*$/, '') ?? '';
  return SIMPLE.test(name) ? name : NEUTRAL;
}
