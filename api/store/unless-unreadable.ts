import { SecretBoxError } from '#api/store/secret-box.ts';

/** Returns what the function decrypts; null when that is impossible, as after the removal of its key. */
export function unlessUnreadable(open: () => string): string | null {
  try {
    return open();
  } catch (error) {
    return nullWhenUnreadable(error);
  }
}

/** Returns null for the error of a stored value that cannot be decrypted. @throws any other error */
export function nullWhenUnreadable(error: unknown): null {
  if (error instanceof SecretBoxError) return null;
  throw error;
}
