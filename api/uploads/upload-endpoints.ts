import { z } from 'zod';
import { withMinimumPace } from '#api/http/body-pace.ts';
import type { CallerRequest, Endpoint } from '#api/http/endpoint.ts';
import { readFields } from '#api/http/json-body.ts';
import { readQuery } from '#api/fields/query.ts';
import { completeUpload } from '#api/uploads/complete-upload.ts';
import { createUpload, uploadRequestSchema } from '#api/uploads/create-upload.ts';
import { checkContent, receivePart, storeContent } from '#api/uploads/receive-upload.ts';
import { lastComponent } from '#api/uploads/upload.ts';
import {
  uploadedObjectSchema,
  uploadObject,
  uploadObjectSchema,
  uploadPartObjectSchema,
} from '#api/uploads/upload-object.ts';

const uploaded = { 200: { description: 'The content is stored.', schema: uploadedObjectSchema } };

/** Endpoints of uploads: docs/reference/uploads.md. */
export const uploadEndpoints: readonly Endpoint[] = [
  {
    method: 'POST',
    path: '/v1/uploads',
    summary: 'Create an upload.',
    lane: 'other',
    body: uploadRequestSchema,
    responses: { 201: { description: 'The upload, with the URLs for its content.', schema: uploadObjectSchema } },
    errors: ['bad_request', 'file_too_large', 'test_mode_sample_required', 'upload_allowance_reached'],
    handle: async (deps, request) => {
      const input = await readFields(request, uploadRequestSchema);
      const upload = await createUpload(deps, { caller: request.caller, input });
      return { status: 201, headers: { Location: `/v1/uploads/${upload.id}` }, body: uploadObject(deps, upload) };
    },
  },
  {
    method: 'PUT',
    path: '/v1/uploads/:id/content',
    summary: 'Send the content in one request.',
    lane: 'other',
    query: z.object({
      filename: z.string().optional().meta({ description: 'Name of the file; already in the `url` of the upload.' }),
    }),
    body: 'bytes',
    responses: uploaded,
    errors: ['bad_request', 'not_found', 'file_too_large', 'upload_allowance_reached'],
    handle: async (deps, request) => {
      const { caller, contentLength, query } = request;
      const { upload, size } = await checkContent(deps, { caller, input: { id: idOf(request), size: contentLength } });
      const filename = lastComponent(readQuery(query).get('filename'));
      await storeContent(deps, { caller, input: { upload, size, filename, read: contentOf(request) } });
      return { status: 200, body: { id: upload.id, object: 'upload', size, uploaded: true } };
    },
  },
  {
    method: 'PUT',
    path: '/v1/uploads/:id/parts/:part_number',
    summary: 'Send one part.',
    lane: 'other',
    body: 'bytes',
    responses: { 200: { description: 'The part is stored.', schema: uploadPartObjectSchema } },
    errors: ['bad_request', 'not_found', 'upload_already_completed'],
    handle: async (deps, request) => {
      const id = idOf(request);
      const part = { id, partNumber: request.params['part_number'] ?? '', size: request.contentLength };
      const input = { ...part, read: contentOf(request) };
      const { partNumber, size } = await receivePart(deps, { caller: request.caller, input });
      return { status: 200, body: { id, object: 'upload_part', part_number: partNumber, size } };
    },
  },
  {
    method: 'POST',
    path: '/v1/uploads/:id/complete',
    summary: 'Complete a multipart upload.',
    lane: 'other',
    responses: uploaded,
    errors: ['not_found', 'upload_incomplete', 'upload_already_completed', 'engine_busy'],
    handle: async (deps, request) => {
      const id = idOf(request);
      const { size } = await completeUpload(deps, { caller: request.caller, input: { id, signal: request.signal } });
      return { status: 200, body: { id, object: 'upload', size, uploaded: true } };
    },
  },
];

function idOf({ params }: CallerRequest): string {
  return params['id'] ?? '';
}

function contentOf({ body }: CallerRequest) {
  return (onChunk?: (chunk: Buffer) => void) => withMinimumPace(body, onChunk);
}
