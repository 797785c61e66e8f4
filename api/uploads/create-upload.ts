import { z } from 'zod';
import type { Caller } from '#api/accounts/find-caller.ts';
import { lockAccount } from '#api/accounts/account-rows.ts';
import type { ApiDeps } from '#api/api-deps.ts';
import type { ApiReply, CallerRequest } from '#api/endpoint.ts';
import { parseFields, readJsonBody } from '#api/http/json-body.ts';
import type { Queryable } from '#api/store/database.ts';
import { lastComponent, partSizes } from '#api/uploads/upload.ts';
import { countOnAllowance, insertUpload, uploadedBytesSince } from '#api/uploads/upload-rows.ts';
import { MediaError } from '#crds/media-error.ts';
import { LIMITS, PLANS } from '#crds/plans.ts';

export const uploadRequestSchema = z.strictObject({
  size: z.int().positive().meta({ description: 'Bytes.' }),
  filename: z.string().max(4096).nullish().meta({ description: 'Only the last path component is kept.' }),
});

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

/** `POST /v1/uploads`. Spec: Uploads. */
export async function createUpload(deps: ApiDeps, request: CallerRequest): Promise<ApiReply> {
  const { object } = await readJsonBody(request);
  const fields = parseFields(uploadRequestSchema, object);
  const { caller } = request;
  refuseSize(caller, fields.size);
  const id = deps.newId('upload');
  const filename = lastComponent(fields.filename);
  const multipart = fields.size > LIMITS.singleUploadBytes;
  const createdAt = deps.clock.now();
  const expiresAt = new Date(createdAt.getTime() + LIMITS.uploadUnusedSeconds * 1000);
  const owner = { accountId: caller.account.id, livemode: caller.livemode };
  await deps.database.transaction(async (tx) => {
    await lockAccount(tx, owner.accountId);
    await takeAllowance(tx, { caller, bytes: fields.size, at: createdAt });
    await insertUpload(tx, { id, ...owner, size: fields.size, filename, multipart, createdAt, expiresAt });
  });
  const base = `${deps.baseUrl}/v1/uploads/${id}`;
  return {
    status: 201,
    headers: { Location: `/v1/uploads/${id}` },
    body: {
      id,
      object: 'upload',
      size: fields.size,
      method: 'PUT',
      headers: { authorization: 'Bearer <API_KEY>', 'content-type': 'application/octet-stream' },
      expires_at: expiresAt.toISOString(),
      multipart,
      ...(multipart ? partFields(base, fields.size) : { url: contentUrl(base, filename) }),
    },
  };
}

function refuseSize({ account, livemode }: Caller, size: number): void {
  if (!livemode && size > LIMITS.singleUploadBytes) {
    const message = `A test key uploads published samples of at most ${LIMITS.singleUploadBytes} bytes in one request; this is ${size}.`;
    throw new MediaError('test_mode_sample_required', message, { param: 'size' });
  }
  const limit = PLANS[account.plan].maxAsyncBytes;
  if (size <= limit) return;
  const message = `The file has ${size} bytes; the plan ${account.plan} takes job files of at most ${limit} bytes.`;
  throw new MediaError('file_too_large', message, { param: 'size' });
}

/**
 * Counts bytes on the allowance of 24 hours; call it under the account's lock. Spec: Upload allowance.
 * @throws MediaError upload_allowance_reached
 */
export async function takeAllowance(tx: Queryable, entry: { caller: Caller; bytes: number; at: Date }): Promise<void> {
  const { account, livemode } = entry.caller;
  const limit = livemode
    ? LIMITS.uploadAllowanceFactor * PLANS[account.plan].maxAsyncBytes
    : LIMITS.testUploadAllowanceBytes;
  const owner = { accountId: account.id, livemode };
  const since = new Date(entry.at.getTime() - LIMITS.uploadUnusedSeconds * 1000);
  const used = await uploadedBytesSince(tx, owner, since);
  if (used + entry.bytes > limit) {
    const message = `Uploads of the last 24 hours come to ${used} bytes; with ${entry.bytes} more they pass the limit of ${limit}.`;
    throw new MediaError('upload_allowance_reached', message);
  }
  await countOnAllowance(tx, { ...owner, bytes: entry.bytes, at: entry.at });
}

function contentUrl(base: string, filename: string | null): string {
  return filename === null ? `${base}/content` : `${base}/content?filename=${encodeURIComponent(filename)}`;
}

function partFields(base: string, size: number): object {
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
