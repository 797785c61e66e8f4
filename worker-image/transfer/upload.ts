import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import type { OutputTarget } from '#crds/media-job.ts';
import { isTransient, openRequest } from '#worker-image/transfer/http-request.ts';
import { retrying, TransferFailed, TransientFault, type RetryDeps } from '#worker-image/transfer/retrying.ts';

export interface Upload {
  readonly target: OutputTarget;
  readonly path: string;
  readonly contentType: string;
  readonly signal: AbortSignal;
  /** 0 to 1. */
  readonly onProgress: (share: number) => void;
}

/** Bytes of the file that one PUT sends, both ends included. */
interface Piece {
  readonly url: string;
  readonly start: number;
  readonly end: number;
}

/**
 * Streams the output from its file to the store, in parts when it is larger than one of them.
 * @throws TransferFailed when the store stays out of reach or refuses.
 */
export async function upload(deps: RetryDeps, input: Upload): Promise<void> {
  const { size } = await stat(input.path);
  const { url, parts } = input.target;
  const share = (sent: number): void => input.onProgress(sent / size);
  if (parts === null || size <= parts.bytes) {
    await putPiece(deps, { ...input, onProgress: share }, { url, start: 0, end: size - 1 });
    return;
  }
  const etags: string[] = [];
  for (const piece of piecesOf(size, parts)) {
    const onProgress = (sent: number): void => share(piece.start + sent);
    etags.push(etagOf(await putPiece(deps, { ...input, onProgress }, piece)));
  }
  await complete(deps, { url: parts.completeUrl, signal: input.signal }, etags);
}

function piecesOf(size: number, { bytes, urls }: NonNullable<OutputTarget['parts']>): readonly Piece[] {
  if (size > bytes * urls.length) {
    throw new TransferFailed(`the output has ${size} bytes, the store takes ${bytes * urls.length} at most`);
  }
  return urls
    .slice(0, Math.ceil(size / bytes))
    .map((url, index) => ({ url, start: index * bytes, end: Math.min(size, (index + 1) * bytes) - 1 }));
}

function etagOf({ headers: { etag } }: IncomingMessage): string {
  if (etag === undefined) throw new TransferFailed('the store took a part without an ETag');
  return etag;
}

/** `onProgress` is given the bytes sent of this piece. */
function putPiece(deps: RetryDeps, input: Upload, { url, start, end }: Piece): Promise<IncomingMessage> {
  const length = end - start + 1;
  const headers = { 'content-length': String(length), 'content-type': input.contentType };
  return retrying(deps, input.signal, async (moved) => {
    const response = await openRequest({ method: 'PUT', url, headers, signal: input.signal }, (request) => {
      if (length === 0) return void request.end();
      let sent = 0;
      const file = createReadStream(input.path, { start, end });
      file.on('data', (chunk) => {
        sent += chunk.length;
        moved();
        input.onProgress(sent);
      });
      file.once('error', (error) => request.destroy(error));
      request.once('close', () => file.destroy());
      file.pipe(request);
    });
    response.resume();
    refuse(response);
    return response;
  });
}

/** Makes one object of the parts. S3 may answer 200 and say in the body that it failed. */
async function complete(
  deps: RetryDeps,
  { url, signal }: { readonly url: string; readonly signal: AbortSignal },
  etags: readonly string[],
): Promise<void> {
  const parts = etags.map((etag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${etag}</ETag></Part>`);
  const body = `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`;
  const headers = { 'content-length': String(Buffer.byteLength(body)), 'content-type': 'application/xml' };
  await retrying(deps, signal, async () => {
    const response = await openRequest({ method: 'POST', url, headers, signal }, (request) => request.end(body));
    const answer = await text(response).catch((error: unknown) => {
      throw new TransientFault('the answer was cut off', { cause: error });
    });
    refuse(response);
    if (answer.includes('<Error>')) throw new TransientFault('the store could not join the parts');
  });
}

function refuse({ statusCode: status = 0 }: IncomingMessage): void {
  if (status >= 200 && status < 300) return;
  if (isTransient(status)) throw new TransientFault(`the store answered ${status}`);
  throw new TransferFailed(`the store refused the upload with status ${status}`);
}
