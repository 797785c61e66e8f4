/**
 * Protocol of a direct request between API and engine: `POST <engine>/process` with the file as chunked body and this
 * object as base64url JSON in an HTTP trailer. The API knows the options, and whether a test key's file is a sample,
 * only after the last byte. A request that ends before its trailer is never processed.
 *
 * Headers contain the tenant and the size, so that the engine admits or sheds the request before its body: the API
 * sends `Expect: 100-continue` and waits. The engine may also refuse with `engine_busy` while it receives the body. The
 * response is the output as body with the worker's report in a header, or a refusal as JSON with its HTTP status.
 */
import { z } from 'zod';
import type { ErrorCode } from '#crds/contract/error-codes.ts';
import { isErrorCode } from '#crds/contract/error-codes.ts';
import { workOrderSchema } from '#crds/contract/work-order.ts';

export const WORK_TRAILER = 'x-mediajobs-work';
/** Name of the header with the `tenant` of the work, which is sent before the body. */
export const TENANT_HEADER = 'x-mediajobs-tenant';
/** Name of the header with the maximum size of the body, in bytes; default: the limit of direct requests. */
export const BODY_BYTES_HEADER = 'x-mediajobs-body-bytes';
export const REPORT_HEADER = 'x-mediajobs-report';

export const directWorkSchema = workOrderSchema.extend({
  /**
   * Opaque identifier of the account and mode, the same for all of its requests. An engine process opens files of one
   * tenant only. null: it opens this file only.
   */
  tenant: z.string().max(64).nullable().default(null),
});
export type DirectWork = z.infer<typeof directWorkSchema>;

/** Body of a response with status 400 or above. */
export const engineRefusalSchema = z.object({
  code: z.custom<ErrorCode>((text) => typeof text === 'string' && isErrorCode(text)),
  message: z.string(),
  param: z.string().nullable(),
});
export type EngineRefusal = z.infer<typeof engineRefusalSchema>;

/** Encodes a value as base64url JSON. */
export function toHeader(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

/** Decodes base64url JSON. @throws SyntaxError */
export function fromHeader(text: string): unknown {
  return JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
}
