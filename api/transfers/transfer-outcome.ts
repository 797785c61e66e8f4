import { SafeFetchError } from '#crds/shared/safe-fetch-error.ts';

/** A try that failed: the rest of a sentence that begins with the URL's name, and whether another try may help. */
export interface TransferFailure {
  readonly outcome: 'failed';
  readonly problem: string;
  readonly isTransient: boolean;
}

export function failed(problem: string, isTransient = false): TransferFailure {
  return { outcome: 'failed', problem, isTransient };
}

/** @throws what is not about the caller's address: a bug, or our own store. */
export function failedBy(error: unknown): TransferFailure {
  if (error instanceof SafeFetchError) return failed(error.message, error.isTransient);
  throw error;
}

/** Statuses that may pass: 408, 425, 429 and every 5xx. */
export function failedWithStatus(status: number): TransferFailure {
  return failed(`it answered ${status}`, status >= 500 || [408, 425, 429].includes(status));
}
