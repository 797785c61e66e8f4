import { createReadStream } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import type { OutputTarget } from '#crds/contract/media-job.ts';
import { isTransient, openRequest } from '#worker-image/transfer/http-request.ts';
import {
  retryTransfer,
  TransferFailed,
  TransientFault,
  type RetryDeps,
} from '#worker-image/transfer/retry-transfer.ts';

export interface OutputUpload {
  readonly target: OutputTarget;
  /** File that is open for reading and stays open. */
  readonly file: FileHandle;
  /** Size of the file, in bytes. */
  readonly size: number;
  readonly contentType: string;
  readonly signal: AbortSignal;
  /** Called with the sent share, 0 to 1. */
  readonly onProgress: (share: number) => void;
}

/** Range of the file that one PUT sends, in bytes, both ends included. */
interface FilePart {
  readonly url: string;
  readonly start: number;
  readonly end: number;
}

/**
 * Streams the output from its open file to the store, in parts when it is larger than one part.
 * @throws TransferFailed when the store refuses or stays unreachable.
 */
export async function upload(deps: RetryDeps, input: OutputUpload): Promise<void> {
  const { size } = input;
  const { url, parts } = input.target;
  const share = (sent: number): void => input.onProgress(sent / size);
  if (parts === null || size <= parts.bytes) {
    await putPart(deps, { ...input, onProgress: share }, { url, start: 0, end: size - 1 });
    return;
  }
  const etags: string[] = [];
  for (const part of partsOf(size, parts)) {
    const onProgress = (sent: number): void => share(part.start + sent);
    etags.push(etagOf(await putPart(deps, { ...input, onProgress }, part)));
  }
  await complete(deps, { url: parts.completeUrl, signal: input.signal }, etags);
}

function partsOf(size: number, { bytes, urls }: NonNullable<OutputTarget['parts']>): readonly FilePart[] {
  if (size > bytes * urls.length) {
    throw new TransferFailed(`the output has ${size} bytes, its upload URLs accept ${bytes * urls.length} at most`);
  }
  return urls
    .slice(0, Math.ceil(size / bytes))
    .map((url, index) => ({ url, start: index * bytes, end: Math.min(size, (index + 1) * bytes) - 1 }));
}

function etagOf({ headers: { etag } }: IncomingMessage): string {
  if (etag === undefined) throw new TransferFailed('the store accepted a part and returned no ETag');
  return etag;
}

/** Sends one part. Calls `onProgress` with its sent bytes. */
function putPart(deps: RetryDeps, input: OutputUpload, { url, start, end }: FilePart): Promise<IncomingMessage> {
  const length = end - start + 1;
  const headers = { 'content-length': String(length), 'content-type': input.contentType };
  return retryTransfer(deps, input.signal, async (onBytes) => {
    const response = await openRequest({ method: 'PUT', url, headers, signal: input.signal }, (request) => {
      if (length === 0) return void request.end();
      let sent = 0;
      const file = createReadStream('', { fd: input.file.fd, start, end, autoClose: false });
      file.on('data', (chunk) => {
        sent += chunk.length;
        onBytes();
        input.onProgress(sent);
      });
      file.once('error', (error) => request.destroy(error));
      // Not destroyed: that would close the file, whose next part may follow.
      request.once('close', () => file.unpipe(request).pause());
      file.pipe(request);
    });
    response.resume();
    refuse(response);
    return response;
  });
}

/** Joins the parts to one object. S3 may report a failure in the body of a response with status 200. */
async function complete(
  deps: RetryDeps,
  { url, signal }: { readonly url: string; readonly signal: AbortSignal },
  etags: readonly string[],
): Promise<void> {
  const parts = etags.map((etag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${etag}</ETag></Part>`);
  const body = `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`;
  const headers = { 'content-length': String(Buffer.byteLength(body)), 'content-type': 'application/xml' };
  await retryTransfer(deps, signal, async () => {
    const response = await openRequest({ method: 'POST', url, headers, signal }, (request) => request.end(body));
    const content = await text(response).catch((error: unknown) => {
      throw new TransientFault('the response was interrupted', { cause: error });
    });
    refuse(response);
    if (content.includes('<Error>')) throw new TransientFault('the store failed to complete the multipart upload');
  });
}

function refuse({ statusCode: status = 0 }: IncomingMessage): void {
  if (status >= 200 && status < 300) return;
  if (isTransient(status)) throw new TransientFault(`the store responded with status ${status}`);
  throw new TransferFailed(`the store refused the upload with status ${status}`);
}
