import { errorRow, type ErrorCode, type ErrorType } from '#crds/contract/error-codes.ts';

interface MediaErrorDetails {
  /** Dotted path of the wrong field or option. */
  readonly param?: string;
  /** HTTP status when a code has more than one (bad_request is 405 for a wrong method). */
  readonly status?: number;
  /** Seconds in `Retry-After`; default: those of the code's row. */
  readonly retryAfterSeconds?: number;
  /** Underlying error: logged, never shown. */
  readonly cause?: unknown;
}

/**
 * Refusal that is shown to the caller: what failed, the value and the limit, how to fix it. Any other thrown error is a
 * bug and becomes `internal`.
 */
export class MediaError extends Error {
  override readonly name = 'MediaError';
  readonly code: ErrorCode;
  readonly param: string | null;
  readonly status: number | null;
  readonly retryAfterSeconds: number | null;

  constructor(code: ErrorCode, message: string, details: MediaErrorDetails = {}) {
    super(message, { cause: details.cause });
    const row = errorRow(code);
    this.code = code;
    this.param = details.param ?? null;
    this.status = details.status ?? row.status;
    this.retryAfterSeconds = details.retryAfterSeconds ?? row.retryAfterSeconds ?? null;
  }

  get type(): ErrorType {
    return errorRow(this.code).type;
  }
}

/** @throws the refusal, if there is one. */
export function throwIfRefused(refusal: MediaError | null): void {
  if (refusal !== null) throw refusal;
}

/** Error of a failed job: docs/reference/errors.md#error-object. */
export interface JobError {
  readonly type: ErrorType;
  readonly code: ErrorCode;
  readonly message: string;
}

/** Converts an error to that of a job. Details of a bug are not shown. */
export function toJobError(error: unknown): JobError {
  if (error instanceof MediaError) {
    return { type: error.type, code: error.code, message: error.message };
  }
  return {
    type: 'api_error',
    code: 'internal',
    message: 'The service failed while it processed the file. Send the job again.',
  };
}
