import { z } from 'zod';
import type { Endpoint } from '#api/endpoint.ts';
import { createUpload, uploadObjectSchema, uploadRequestSchema } from '#api/uploads/create-upload.ts';
import {
  completeUpload,
  receiveContent,
  receivePart,
  uploadedObjectSchema,
  uploadPartObjectSchema,
} from '#api/uploads/receive-upload.ts';

const uploaded = { 200: { description: 'The content is there.', schema: uploadedObjectSchema } };

/** Spec: Uploads. */
export const uploadEndpoints: readonly Endpoint[] = [
  {
    method: 'POST',
    path: '/v1/uploads',
    summary: 'Create an upload.',
    lane: 'other',
    body: uploadRequestSchema,
    responses: { 201: { description: 'Where to send the bytes.', schema: uploadObjectSchema } },
    errors: ['bad_request', 'file_too_large', 'test_mode_sample_required', 'upload_allowance_reached'],
    handle: createUpload,
  },
  {
    method: 'PUT',
    path: '/v1/uploads/:id/content',
    summary: 'Send the content in one request.',
    lane: 'other',
    query: z.object({ filename: z.string().optional() }),
    body: 'bytes',
    responses: uploaded,
    errors: ['bad_request', 'not_found', 'file_too_large', 'upload_allowance_reached'],
    handle: receiveContent,
  },
  {
    method: 'PUT',
    path: '/v1/uploads/:id/parts/:part_number',
    summary: 'Send one part.',
    lane: 'other',
    body: 'bytes',
    responses: { 200: { description: 'The part is there.', schema: uploadPartObjectSchema } },
    errors: ['bad_request', 'not_found', 'upload_already_completed'],
    handle: receivePart,
  },
  {
    method: 'POST',
    path: '/v1/uploads/:id/complete',
    summary: 'Join the parts.',
    lane: 'other',
    responses: uploaded,
    errors: ['not_found', 'upload_incomplete', 'upload_already_completed'],
    handle: completeUpload,
  },
];
