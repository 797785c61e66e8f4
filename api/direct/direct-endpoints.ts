import { z } from 'zod';
import { processDirect } from '#api/direct/process-direct.ts';
import { resultHeaders } from '#api/direct/result-headers.ts';
import { readQuery } from '#api/fields/query.ts';
import { isMultipart, readFileBody } from '#api/http/file-body.ts';
import type { Endpoint } from '#api/http/endpoint.ts';
import type { ErrorCode } from '#crds/contract/error-codes.ts';
import { convertOptions } from '#crds/catalogue/options/convert.ts';
import { DIRECT_KINDS, outputFormatsOf, type Operation } from '#crds/catalogue/formats.ts';

const ERRORS: readonly ErrorCode[] = [
  'missing_file',
  'invalid_options',
  'bad_request',
  'spend_cap_reached',
  'test_mode_sample_required',
  'feature_not_enabled',
  'file_too_large',
  'unsupported_input',
  'use_async_job',
  'limit_exceeded',
  'encrypted_pdf',
  'processing_failed',
  'engine_busy',
  'timeout',
];

const RESULT_HEADERS = {
  'Content-Disposition': ['string', 'attachment, with the name of the file.'],
  'Cache-Control': ['string', 'no-store'],
  'Svc-Original-Size': ['integer', 'Bytes received.'],
  'Svc-Output-Size': ['integer', 'Bytes returned.'],
  'Svc-Savings-Percent': ['number', 'One decimal; negative when larger.'],
  'Svc-Output-Format': ['string', 'Format of the returned file.'],
  'Svc-Kept-Original': ['boolean', 'Whether the input is returned because nothing smaller could be made.'],
  'Svc-Billed': ['boolean', 'Whether the request is charged.'],
  'Svc-Result': ['string', 'The result object as JSON on one line.'],
} as const;

const name = z.object({
  filename: z.string().optional().meta({
    description: 'Name of the input file. It identifies formats that have the same first bytes, and names the result.',
  }),
  preset: z.string().optional().meta({ description: 'Name or id of a preset.' }),
});

/** Query parameters that abbreviate options of `convert`. */
const target = convertOptions.shape;

const ignored = (name: string): { description: string } => ({
  description: `As \`convert.${name}\`: checked, and ignored by this operation.`,
});
const ignoredTarget = {
  to: target.to.meta(ignored('to')),
  page: target.page.meta(ignored('page')),
  dpi: target.dpi.meta(ignored('dpi')),
};

const direct = (
  path: Endpoint['path'],
  summary: string,
  more: { operation: Operation; query: z.ZodObject; errors: readonly ErrorCode[] },
): Endpoint => ({
  method: 'POST',
  path,
  summary,
  lane: 'direct',
  billable: true,
  query: more.query,
  body: 'file',
  responses: {
    200: {
      description: 'The file; the result object is in `Svc-Result`.',
      files: outputFormatsOf(more.operation, DIRECT_KINDS),
      headers: RESULT_HEADERS,
    },
  },
  errors: more.errors,
  handle: async (deps, request) => {
    const { id: requestId, caller, query, contentLength, signal } = request;
    const input = {
      requestId,
      operation: more.operation,
      parameters: readQuery(query),
      isForm: isMultipart(request),
      contentLength,
      readBody: () => readFileBody(request),
      signal,
    };
    const processed = await processDirect(deps, { caller, input });
    return { status: 200, headers: resultHeaders(processed), body: processed.body };
  },
});

/** `POST /v1/compress`, `/v1/convert` and `/v1/strip-metadata` (docs/reference/direct.md). */
export const directEndpoints: readonly Endpoint[] = [
  direct('/v1/compress', 'Make an image, PDF or audio file smaller.', {
    operation: 'compress',
    query: name,
    errors: ERRORS,
  }),
  direct('/v1/convert', 'Convert a file to another format.', {
    operation: 'convert',
    query: name.extend(target),
    errors: [...ERRORS, 'unsupported_target'],
  }),
  direct('/v1/strip-metadata', 'Remove metadata from an image or PDF without re-encoding it.', {
    operation: 'strip_metadata',
    query: name.extend(ignoredTarget),
    errors: ERRORS,
  }),
];
