/** Error codes of the interface, one row each: docs/reference/errors.md. */

export const ERROR_TYPES = [
  'invalid_request_error',
  'authentication_error',
  'billing_error',
  'permission_error',
  'rate_limit_error',
  'processing_error',
  'api_error',
] as const;
export type ErrorType = (typeof ERROR_TYPES)[number];

interface ErrorRow {
  readonly type: ErrorType;
  /** HTTP status of a response with the code; null for a code that only jobs have. */
  readonly status: number | null;
  /** Seconds in `Retry-After` unless the refusal computes its own; absent when there is no such header. */
  readonly retryAfterSeconds?: number;
  /** One sentence for the reference page. */
  readonly when: string;
}

const invalid = (status: number | null, when: string): ErrorRow => ({
  type: 'invalid_request_error',
  status,
  when,
});
const authentication = (when: string): ErrorRow => ({ type: 'authentication_error', status: 401, when });
const billing = (when: string): ErrorRow => ({ type: 'billing_error', status: 402, when });
const permission = (when: string): ErrorRow => ({ type: 'permission_error', status: 403, when });
const rateLimit = (when: string, retryAfterSeconds = 1): ErrorRow => ({
  type: 'rate_limit_error',
  status: 429,
  retryAfterSeconds,
  when,
});
const processing = (when: string): ErrorRow => ({ type: 'processing_error', status: 422, when });

export const ERROR_CODES = {
  bad_request: invalid(400, 'The body, a field, a header or the method is not what the endpoint accepts.'),
  invalid_options: invalid(400, 'An option is unknown or its value is not allowed; `param` is its path.'),
  missing_file: invalid(400, 'A direct request has no file.'),
  unsupported_version: invalid(400, '`Svc-Version` names a version that does not exist.'),
  not_found: invalid(404, 'The path or the object does not exist for this account and mode.'),
  idempotency_conflict: invalid(409, 'The `Idempotency-Key` was used within 24 hours with another body.'),
  idempotency_in_progress: {
    ...invalid(409, 'The first request with this `Idempotency-Key` is still being handled.'),
    retryAfterSeconds: 1,
  },
  job_not_finished: invalid(409, 'A receipt was requested for a queued or processing job.'),
  upload_incomplete: invalid(409, 'Complete was called while parts were missing.'),
  upload_already_completed: invalid(409, 'A part was sent, or complete was called, after completion.'),
  preset_limit_reached: invalid(409, 'The account has the maximum number of presets.'),
  file_too_large: invalid(413, 'The file is over the limit that the message names.'),
  unsupported_input: invalid(415, 'The type of file is not handled, or not by this operation.'),
  unsupported_target: invalid(415, 'The convert target is not available for this kind of file.'),
  use_async_job: invalid(415, 'Video and office documents run as jobs only.'),
  missing_key: authentication('No `Authorization: Bearer <key>` header.'),
  invalid_key: authentication('The key is malformed or does not exist.'),
  revoked_key: authentication('The key was revoked.'),
  no_payment_method: billing('A live key of an account without plan or payment method.'),
  payment_required: billing('A live key of an account with an unpaid invoice.'),
  spend_cap_reached: billing('The monthly spend cap is reached.'),
  test_mode_sample_required: billing('A test key works with the published sample files only.'),
  account_suspended: permission('The account is suspended.'),
  ip_not_allowed: permission("The request's address is not in the key's allow-list."),
  feature_not_enabled: permission('HEIC output or video is not enabled for the account.'),
  https_required: permission('The request came over plain http; treat a key sent that way as exposed.'),
  invalid_signature: permission('The download link was altered or has expired.'),
  rate_limited: rateLimit('The rate bucket is empty.'),
  concurrency_limited: rateLimit('Too many direct requests in progress, or too many unfinished jobs.'),
  upload_allowance_reached: rateLimit('The upload allowance of 24 hours is used up.', 3600),
  limit_exceeded: processing('The file is over a pixel, frame, page or length limit.'),
  encrypted_pdf: processing('The PDF needs a password.'),
  processing_failed: processing('The file was recognized but could not be processed.'),
  internal: { type: 'api_error', status: 500, when: "A fault on the service's side." },
  engine_busy: {
    type: 'api_error',
    status: 503,
    retryAfterSeconds: 1,
    when: 'All engines are busy; nothing was processed.',
  },
  timeout: { type: 'api_error', status: 504, when: 'The work took longer than its limit.' },
  canceled: invalid(null, 'The job was canceled before it finished.'),
  input_fetch_failed: invalid(null, 'The file at `input.url` could not be fetched.'),
  input_changed: invalid(null, 'The upload was overwritten after the job was created.'),
  input_missing: invalid(null, 'The uploaded file no longer existed when the job started.'),
  output_upload_failed: invalid(null, 'The result could not be PUT to `output.url`.'),
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof ERROR_CODES;

export const ERROR_CODE_NAMES = Object.keys(ERROR_CODES) as ErrorCode[];

export function errorRow(code: ErrorCode): ErrorRow {
  return ERROR_CODES[code];
}

export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(ERROR_CODES, text);
}
