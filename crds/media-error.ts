import { errorRow, type ErrorCode, type ErrorType } from '#crds/error-codes.ts';

interface MediaErrorDetails {
  /** The field or option at fault, as a dotted path. */
  readonly param?: string;
  /** HTTP status when a code has more than one (bad_request is 405 for a wrong method). */
  readonly status?: number;
  /** Seconds for `Retry-After` when the refusal knows better than the code's row. */
  readonly retryAfterSeconds?: number;
  /** What went wrong underneath: logged, never shown. */
  readonly cause?: unknown;
}

/**
 * A refusal that the caller is told about: what failed, the value and the limit, what to do.
 * Anything else that is thrown is a bug and becomes `internal`.
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

/** What a failed job's record holds. Spec: Error object, last line. */
export interface JobError {
  readonly type: ErrorType;
  readonly code: ErrorCode;
  readonly message: string;
}

/** The error as a job's record shows it. A bug shows nothing of itself. */
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
