import { MediaError } from '#crds/contract/media-error.ts';

/**
 * Returns the error to throw for a failed operation. A plain Error means that a library or tool could not process the
 * file: it becomes processing_failed with the given sentence. Refusals, bugs (TypeError) and faults of the machine (a
 * missing tool, a full disk) are returned unchanged.
 */
export function asRefusal(error: unknown, sentence: string): unknown {
  if (!isPlainError(error)) return error;
  return new MediaError('processing_failed', sentence, { cause: error });
}

/** Returns whether the error is a `new Error(…)`: neither of a subclass nor an error of the operating system. */
export function isPlainError(error: unknown): error is Error {
  return error instanceof Error && Object.getPrototypeOf(error) === Error.prototype && !('syscall' in error);
}
