/**
 * How the API hands a direct request to the engine: `POST <engine>/process` with the file as a chunked
 * body and this object as base64url JSON in an HTTP trailer of that name (the API knows the options, and
 * whether a test key's file is a sample, only after the last byte; a request cut off before its trailer
 * is never processed). `Expect: 100-continue` asks for a place first: without one the refusal `engine_busy` comes
 * before the body would go. The answer is the output as body with the worker's report in a header, or a
 * refusal as JSON with its HTTP status.
 */
import { z } from 'zod';
import type { ErrorCode } from '#crds/error-codes.ts';
import { isErrorCode } from '#crds/error-codes.ts';
import { OPERATIONS } from '#crds/formats.ts';
import { featuresSchema, fileLimitsSchema } from '#crds/media-job.ts';
import { resolvedOptionsSchema } from '#crds/options/options.ts';

/** Name of the trailer. */
export const WORK_TRAILER = 'x-mediajobs-work';
export const REPORT_HEADER = 'x-mediajobs-report';

export const directWorkSchema = z.object({
  operation: z.enum(OPERATIONS),
  options: resolvedOptionsSchema,
  limits: fileLimitsSchema,
  features: featuresSchema,
  filename: z.string().nullable(),
  /**
   * Opaque mark of the account and mode, the same for all of its requests: a process of the engine opens the files of
   * one mark only. null: it opens this one file.
   */
  tenant: z.string().max(64).nullable().default(null),
});
export type DirectWork = z.infer<typeof directWorkSchema>;

/** Body of an answer with status 400 or above. */
export const engineRefusalSchema = z.object({
  code: z.custom<ErrorCode>((text) => typeof text === 'string' && isErrorCode(text)),
  message: z.string(),
  param: z.string().nullable(),
});
export type EngineRefusal = z.infer<typeof engineRefusalSchema>;

export function toHeader(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

export function fromHeader(text: string): unknown {
  return JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
}
