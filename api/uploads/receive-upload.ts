/** The content of uploads: in one request, or in parts that are joined. Spec: Uploads. */
import { Readable } from 'node:stream';
import { z } from 'zod';
import { lockAccount } from '#api/accounts/account-rows.ts';
import type { Caller } from '#api/accounts/find-caller.ts';
import type { ApiDeps } from '#api/api-deps.ts';
import type { ApiReply, CallerRequest } from '#api/endpoint.ts';
import { SizeMismatch } from '#api/files/file-store.ts';
import { atPace } from '#api/http/body-pace.ts';
import { readQuery } from '#api/http/query.ts';
import { takeAllowance } from '#api/uploads/create-upload.ts';
import { recordPart, selectPartNumbers } from '#api/uploads/part-rows.ts';
import { contentKey, lastComponent, partKey, partSizes } from '#api/uploads/upload.ts';
import { findUpload, markUploaded, type Upload } from '#api/uploads/upload-rows.ts';
import { MediaError } from '#crds/media-error.ts';
import { LIMITS, PLANS } from '#crds/plans.ts';
import { faultPoint } from '#crds/shared/fault-point.ts';

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

/** `PUT /v1/uploads/{id}/content`: sending again replaces the content. */
export async function receiveContent(deps: ApiDeps, request: CallerRequest): Promise<ApiReply> {
  const upload = await uploadOf(deps, request);
  if (upload === null || upload.multipart) throw notFound(request);
  const size = requiredLength(request);
  const planLimit = PLANS[request.caller.account.plan].maxAsyncBytes;
  if (size > LIMITS.singleUploadBytes || size > planLimit) throw tooLarge(size, planLimit);
  const filename = lastComponent(readQuery(request.query).get('filename'));
  if (size > upload.size) await countExcess(deps, request.caller, size - upload.size);
  const stored = await store(deps, request, { key: contentKey(upload.id), size });
  await faultPoint('after-upload-stored');
  if (!(await recordContent(deps, upload.id, { size, etag: stored.etag, filename }))) {
    await deps.files.delete(contentKey(upload.id));
    throw notFound(request);
  }
  return { status: 200, body: { id: upload.id, object: 'upload', size, uploaded: true } };
}

/** Bytes beyond the declared size count on the allowance too. */
async function countExcess({ database, clock }: ApiDeps, caller: Caller, bytes: number): Promise<void> {
  await database.transaction(async (tx) => {
    await lockAccount(tx, caller.account.id);
    await takeAllowance(tx, { caller, bytes, at: clock.now() });
  });
}

/**
 * Records the content until the row names what the store holds: of two requests at once, the one that is stored last
 * may be recorded first. false when the upload is gone.
 */
async function recordContent(
  { database, files, clock }: ApiDeps,
  id: string,
  { filename, ...sent }: { size: number; etag: string; filename: string | null },
): Promise<boolean> {
  for (let content: { size: number; etag: string } = sent; ;) {
    if (!(await markUploaded(database, id, { ...content, filename, at: clock.now() }))) return false;
    const held = await files.head(contentKey(id));
    if (held === null || held.etag === content.etag) return true;
    content = held;
  }
}

/** `PUT /v1/uploads/{id}/parts/{part_number}`: in any order; sending again replaces the part. */
export async function receivePart(deps: ApiDeps, request: CallerRequest): Promise<ApiReply> {
  const upload = await openMultipart(deps, request);
  const sizes = partSizes(upload.size);
  const partNumber = Number(request.params['part_number']);
  const expected = /^[1-9]\d*$/.test(request.params['part_number'] ?? '') ? sizes[partNumber - 1] : undefined;
  if (expected === undefined) {
    const message = `There is no part \`${request.params['part_number']}\`; the parts are 1 to ${sizes.length}.`;
    throw new MediaError('bad_request', message, { param: 'part_number' });
  }
  const size = requiredLength(request);
  if (size !== expected) {
    const message = `Part ${partNumber} has ${expected} bytes; the request announces ${size}.`;
    throw new MediaError('bad_request', message, { param: 'Content-Length' });
  }
  await store(deps, request, { key: partKey(upload.id, partNumber), size });
  await recordPart(deps.database, { uploadId: upload.id, partNumber, size });
  return { status: 200, body: { id: upload.id, object: 'upload_part', part_number: partNumber, size } };
}

/** `POST /v1/uploads/{id}/complete`: joins the parts. Calling it again after a crash in between is safe. */
export async function completeUpload(deps: ApiDeps, request: CallerRequest): Promise<ApiReply> {
  const upload = await openMultipart(deps, request);
  const count = partSizes(upload.size).length;
  const sent = await selectPartNumbers(deps.database, upload.id);
  const missing = Array.from({ length: count }, (_, index) => index + 1).filter((number) => !sent.has(number));
  if (missing.length > 0) {
    throw new MediaError(
      'upload_incomplete',
      `These parts are missing: ${missing.join(', ')}. Send them, then complete again.`,
    );
  }
  const key = contentKey(upload.id);
  const { etag } = await deps.files.put(key, Readable.from(joinParts(deps, upload.id, count)), {
    maxBytes: upload.size,
    size: upload.size,
  });
  await faultPoint('after-parts-joined');
  await markUploaded(deps.database, upload.id, { size: upload.size, etag, filename: null, at: deps.clock.now() });
  await faultPoint('after-upload-completed');
  for (let number = 1; number <= count; number += 1) await deps.files.delete(partKey(upload.id, number));
  return { status: 200, body: { id: upload.id, object: 'upload', size: upload.size, uploaded: true } };
}

async function* joinParts(deps: Pick<ApiDeps, 'files'>, uploadId: string, count: number): AsyncGenerator<Buffer> {
  for (let number = 1; number <= count; number += 1) {
    const part = await deps.files.get(partKey(uploadId, number));
    if (part === null) throw new Error(`part ${number} of ${uploadId} is recorded but not in the file store`);
    yield* part.body as AsyncIterable<Buffer>;
  }
}

async function openMultipart(deps: ApiDeps, request: CallerRequest): Promise<Upload> {
  const upload = await uploadOf(deps, request);
  if (upload === null || !upload.multipart) throw notFound(request);
  if (upload.etag === null) return upload;
  throw new MediaError('upload_already_completed', 'The upload is complete; create a new one to send other bytes.');
}

function uploadOf(deps: ApiDeps, { caller, params }: CallerRequest): Promise<Upload | null> {
  return findUpload(deps.database, { accountId: caller.account.id, now: deps.clock.now() }, params['id'] ?? '');
}

async function store(
  deps: ApiDeps,
  request: CallerRequest,
  { key, size }: { key: string; size: number },
): Promise<{ etag: string }> {
  try {
    return await deps.files.put(key, atPace(request.body), { maxBytes: size, size });
  } catch (error) {
    if (!(error instanceof SizeMismatch)) throw error;
    throw new MediaError('bad_request', `The body ended before the ${size} bytes that Content-Length announced.`, {
      param: 'Content-Length',
      cause: error,
    });
  }
}

function requiredLength({ contentLength }: CallerRequest): number {
  if (contentLength !== null && contentLength > 0) return contentLength;
  const message = 'Send the bytes with a `Content-Length` above 0.';
  throw new MediaError('bad_request', message, { param: 'Content-Length' });
}

function tooLarge(size: number, planLimit: number): MediaError {
  const message =
    size > planLimit
      ? `The content has ${size} bytes; the plan takes job files of at most ${planLimit} bytes.`
      : `The content has ${size} bytes; one request takes at most ${LIMITS.singleUploadBytes}. Create the upload with its real size to get parts.`;
  return new MediaError('file_too_large', message);
}

function notFound({ params }: CallerRequest): MediaError {
  return new MediaError(
    'not_found',
    `There is no such upload: \`${(params['id'] ?? '').slice(0, 40)}\`. It may have expired.`,
  );
}
