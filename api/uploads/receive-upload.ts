/** Content of uploads, in one request or in parts: docs/reference/uploads.md. */
import type { Readable } from 'node:stream';
import { lockAccount } from '#api/accounts/account-rows.ts';
import type { Dependencies } from '#api/dependencies.ts';
import { SizeMismatch } from '#api/files/file-store.ts';
import { countOnUploadAllowance, type Uploader } from '#api/uploads/create-upload.ts';
import { contentKey, partKey, partSizes } from '#api/uploads/upload.ts';
import { findUpload, markUploaded, recordPart, type Upload } from '#api/uploads/upload-rows.ts';
import { collectFirstBytes, possibleKinds } from '#crds/contract/first-bytes.ts';
import type { Kind } from '#crds/catalogue/formats.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import { LIMITS, PLANS } from '#crds/catalogue/plans.ts';
import { faultPoint } from '#crds/process/fault-point.ts';

type UploadDeps = Pick<Dependencies, 'database' | 'clock' | 'files'>;

/** Content-Length of the request, in bytes; null when absent. */
type AnnouncedSize = number | null;

/** Function that returns the content as a stream and passes each chunk to the listener. */
type ReadContent = (onChunk?: (chunk: Buffer) => void) => Readable;

/**
 * Checks that an upload accepts content of a size in one request. Returns the upload and the size.
 * @throws MediaError not_found, bad_request, file_too_large
 */
export async function checkContent(
  deps: UploadDeps,
  { caller, input: { id, size } }: { caller: Uploader; input: { id: string; size: AnnouncedSize } },
): Promise<{ upload: Upload; size: number }> {
  const upload = await uploadOf(deps, caller, id);
  if (upload === null || upload.multipart) throw uploadNotFound(id);
  const announced = requiredLength(size);
  const planLimit = PLANS[caller.account.plan].maxAsyncBytes;
  if (announced > LIMITS.singleUploadBytes || announced > planLimit) throw tooLarge(announced, planLimit);
  // Stored content has replaced the declared size in the row. A replacement may be larger; the allowance counts it.
  if (upload.etag === null && announced > upload.size) throw overDeclaredSize(announced, upload.size);
  return { upload, size: announced };
}

interface CheckedContent {
  readonly upload: Upload;
  readonly size: number;
  /** File name; null keeps the name of the upload. */
  readonly filename: string | null;
  readonly read: ReadContent;
}

/** Stores checked content, replacing earlier content. @throws MediaError bad_request, not_found */
export async function storeContent(
  deps: UploadDeps,
  { caller, input }: { caller: Uploader; input: CheckedContent },
): Promise<void> {
  const { upload, size, filename, read } = input;
  if (size > upload.size) await countExcess(deps, caller, size - upload.size);
  const first = collectFirstBytes();
  const key = contentKey(upload.id);
  const { etag } = await store(deps, read(first.add), { key, size });
  await faultPoint('after-upload-stored');
  const kinds = possibleKinds(first.bytes());
  if (await recordContent(deps, upload.id, { size, etag, kinds, filename })) return;
  await deps.files.delete(key);
  throw uploadNotFound(upload.id);
}

/** Counts the bytes of a replacement beyond the size so far on the upload allowance too. */
async function countExcess({ database, clock }: UploadDeps, caller: Uploader, bytes: number): Promise<void> {
  await database.transaction(async (tx) => {
    await lockAccount(tx, caller.account.id);
    await countOnUploadAllowance(tx, { caller, bytes, at: clock.now() });
  });
}

interface StoredContent {
  readonly size: number;
  readonly etag: string;
  /** Kinds that the content may have; null: unknown. */
  readonly kinds: readonly Kind[] | null;
}

/**
 * Records the content until the row has the ETag of the stored object: of two concurrent requests, the one that is
 * stored last may be recorded first. Returns false when the upload was deleted.
 */
async function recordContent(
  { database, files, clock }: UploadDeps,
  id: string,
  { filename, ...sent }: StoredContent & { filename: string | null },
): Promise<boolean> {
  for (let content: StoredContent = sent; ;) {
    if (!(await markUploaded(database, id, { ...content, filename, at: clock.now() }))) return false;
    const held = await files.head(contentKey(id));
    if (held === null || held.etag === content.etag) return true;
    // Only the other request has read the first bytes of its content.
    content = { ...held, kinds: null };
  }
}

interface ReceivedPart {
  readonly id: string;
  /** Part number as text from the path. */
  readonly partNumber: string;
  readonly size: AnnouncedSize;
  readonly read: ReadContent;
}

/** Stores one part, in any order, replacing an earlier one of its number. Returns its number and size. */
export async function receivePart(
  deps: UploadDeps,
  { caller, input }: { caller: Uploader; input: ReceivedPart },
): Promise<{ partNumber: number; size: number }> {
  const upload = await openMultipart(deps, caller, input.id);
  const sizes = partSizes(upload.size);
  const partNumber = Number(input.partNumber);
  const expected = /^[1-9]\d*$/.test(input.partNumber) ? sizes[partNumber - 1] : undefined;
  if (expected === undefined) {
    const message = `There is no part \`${input.partNumber}\`; the parts are 1 to ${sizes.length}.`;
    throw new MediaError('bad_request', message, { param: 'part_number' });
  }
  const size = requiredLength(input.size);
  if (size !== expected) {
    const message = `Part ${partNumber} has ${expected} bytes; the request announces ${size}.`;
    throw new MediaError('bad_request', message, { param: 'Content-Length' });
  }
  const key = partKey(upload.id, partNumber);
  await store(deps, input.read(), { key, size });
  if (await recordPart(deps.database, { uploadId: upload.id, partNumber, size })) return { partNumber, size };
  await deps.files.delete(key);
  throw uploadNotFound(upload.id);
}

/**
 * Returns an upload that accepts parts and their completion.
 * @throws MediaError not_found, upload_already_completed
 */
export async function openMultipart(deps: UploadDeps, caller: Uploader, id: string): Promise<Upload> {
  const upload = await uploadOf(deps, caller, id);
  if (upload === null) throw uploadNotFound(id);
  if (!upload.multipart) throw notMultipart(id);
  if (upload.etag === null) return upload;
  throw new MediaError('upload_already_completed', 'The upload is complete; create a new one to send other bytes.');
}

function uploadOf({ database, clock }: UploadDeps, { account }: Uploader, id: string): Promise<Upload | null> {
  return findUpload(database, { accountId: account.id, now: clock.now() }, id);
}

async function store(
  { files }: UploadDeps,
  content: Readable,
  { key, size }: { key: string; size: number },
): Promise<{ etag: string }> {
  try {
    return await files.put(key, content, { maxBytes: size, size });
  } catch (error) {
    if (!(error instanceof SizeMismatch)) throw error;
    throw new MediaError('bad_request', `The body ended before the ${size} bytes that Content-Length announced.`, {
      param: 'Content-Length',
      cause: error,
    });
  }
}

function requiredLength(size: AnnouncedSize): number {
  if (size !== null && size > 0) return size;
  const message =
    size === null
      ? 'The request has no `Content-Length`, as with a chunked body. Send the size of the content in bytes.'
      : 'The content is empty. Send at least one byte.';
  throw new MediaError('bad_request', message, { param: 'Content-Length' });
}

function tooLarge(size: number, planLimit: number): MediaError {
  const message =
    size > planLimit
      ? `The content has ${size} bytes; the plan allows job files of at most ${planLimit} bytes.`
      : `The content has ${size} bytes; one request takes at most ${LIMITS.singleUploadBytes}. Create the upload with its real size to get parts.`;
  return new MediaError('file_too_large', message);
}

function overDeclaredSize(size: number, declared: number): MediaError {
  const message = `The content has ${size} bytes; the upload was created for ${declared}. Create an upload with the size of the file.`;
  return new MediaError('bad_request', message, { param: 'Content-Length' });
}

function notMultipart(id: string): MediaError {
  const message = `The upload \`${id}\` is not a multipart upload: send its content in one request to its \`url\`.`;
  return new MediaError('not_found', message);
}

function uploadNotFound(id: string): MediaError {
  return new MediaError('not_found', `There is no such upload: \`${id.slice(0, 40)}\`. It may have expired.`);
}
