import { z } from 'zod';
import type { NewUpload } from '#api/uploads/create-upload.ts';
import { partSizes } from '#api/uploads/upload.ts';
import { LIMITS } from '#crds/catalogue/plans.ts';

export const uploadObjectSchema = z
  .object({
    id: z.string(),
    object: z.literal('upload'),
    size: z.int(),
    method: z.literal('PUT'),
    headers: z.record(z.string(), z.string()),
    expires_at: z.iso.datetime(),
    multipart: z.boolean(),
    url: z.string().optional(),
    part_size: z.int().optional(),
    parts: z.array(z.object({ part_number: z.int(), size: z.int(), url: z.string() })).optional(),
    complete_url: z.string().optional(),
  })
  .meta({ id: 'Upload' });

export const uploadedObjectSchema = z
  .object({
    id: z.string(),
    object: z.literal('upload'),
    size: z.int(),
    uploaded: z.literal(true),
  })
  .meta({ id: 'UploadedUpload' });

export const uploadPartObjectSchema = z
  .object({
    id: z.string(),
    object: z.literal('upload_part'),
    part_number: z.int(),
    size: z.int(),
  })
  .meta({ id: 'UploadPart' });

/** Returns the upload object with the URLs for the content, in one request or in parts. */
export function uploadObject(
  { baseUrl }: { readonly baseUrl: string },
  { id, size, filename, multipart, expiresAt }: NewUpload,
): z.infer<typeof uploadObjectSchema> {
  const base = `${baseUrl}/v1/uploads/${id}`;
  return {
    id,
    object: 'upload',
    size,
    method: 'PUT',
    headers: { authorization: 'Bearer <API_KEY>', 'content-type': 'application/octet-stream' },
    expires_at: expiresAt.toISOString(),
    multipart,
    ...(multipart ? partFields(base, size) : { url: contentUrl(base, filename) }),
  };
}

function contentUrl(base: string, filename: string | null): string {
  return filename === null ? `${base}/content` : `${base}/content?filename=${encodeURIComponent(filename)}`;
}

function partFields(base: string, size: number) {
  return {
    part_size: LIMITS.uploadPartBytes,
    parts: partSizes(size).map((bytes, index) => ({
      part_number: index + 1,
      size: bytes,
      url: `${base}/parts/${index + 1}`,
    })),
    complete_url: `${base}/complete`,
  };
}
