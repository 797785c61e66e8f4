import type { ErrorCode } from '#crds/contract/error-codes.ts';

/** Error codes that an engine process may report. Those of accounts, keys and billing are not among them. */
export const ENGINE_ERROR_CODES = [
  'invalid_options',
  'file_too_large',
  'unsupported_input',
  'unsupported_target',
  'use_async_job',
  'feature_not_enabled',
  'limit_exceeded',
  'encrypted_pdf',
  'processing_failed',
  'timeout',
  'canceled',
] as const satisfies readonly ErrorCode[];
export type EngineErrorCode = (typeof ENGINE_ERROR_CODES)[number];

export function isEngineErrorCode(code: ErrorCode): code is EngineErrorCode {
  return (ENGINE_ERROR_CODES as readonly ErrorCode[]).includes(code);
}
