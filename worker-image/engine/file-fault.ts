import { MediaError } from '#crds/media-error.ts';

/**
 * What a step's error becomes: a refusal stays, a plain Error (a library or tool that gives up on the
 * file) becomes processing_failed with the given sentence. Everything else is a bug or the machine's
 * fault (TypeError, a missing tool, a full disk) and stays what it is.
 */
export function asRefusal(error: unknown, sentence: string): unknown {
  if (!isPlainError(error)) return error;
  return new MediaError('processing_failed', sentence, { cause: error });
}

/** True for `new Error(…)` itself: not for its subclasses, and not for errors of the system. */
export function isPlainError(error: unknown): error is Error {
  return error instanceof Error && Object.getPrototypeOf(error) === Error.prototype && !('syscall' in error);
}
