import { SafeFetchError } from '#api/outbound/safe-fetch-error.ts';

/** Failed attempt: `problem` is the end of a sentence about the URL; `isTransient` says whether a retry may succeed. */
export interface TransferFailure {
  readonly outcome: 'failed';
  readonly problem: string;
  readonly isTransient: boolean;
}

export function failed(problem: string, isTransient = false): TransferFailure {
  return { outcome: 'failed', problem, isTransient };
}

/** Returns the failure of a SafeFetchError. @throws any other error: a bug, or a failure of the file store. */
export function failedBy(error: unknown): TransferFailure {
  if (error instanceof SafeFetchError) return failed(error.message, error.isTransient);
  throw error;
}

/** Returns the failure of an HTTP status. 408, 425, 429 and every 5xx are transient. */
export function failedWithStatus(status: number): TransferFailure {
  return failed(`the response has status ${status}`, status >= 500 || [408, 425, 429].includes(status));
}
