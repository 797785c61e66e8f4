import { createReadStream } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Transfer } from '#crds/contract/transfer-urls.ts';
import { faultOfStatus, openRequest } from '#worker-image/transfer/http-request.ts';
import { requestUrl, type RequestTransfer } from '#worker-image/transfer/request-transfer.ts';
import {
  retryTransfer,
  TransferFailed,
  TransientFault,
  type RetryDeps,
} from '#worker-image/transfer/retry-transfer.ts';

export interface OutputUpload {
  readonly requestTransfer: RequestTransfer;
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
  /** Returns the URL of a try. */
  readonly url: () => Promise<string>;
  readonly start: number;
  readonly end: number;
}

/**
 * Streams the output from its open file to the store, in parts when it is larger than one part.
 * @throws TransferFailed when the store refuses or stays unreachable.
 */
export async function upload(deps: RetryDeps, input: OutputUpload): Promise<void> {
  const { size, signal, requestTransfer } = input;
  const share = (sent: number): void => input.onProgress(sent / size);
  const whole: Transfer = { of: 'output', size };
  const granted = await retryTransfer(deps, signal, () => requestTransfer(whole, signal));
  if ('url' in granted) {
    // The first try uses the URL that is granted already.
    const urls = [granted.url];
    const url = async (): Promise<string> => urls.pop() ?? requestUrl(requestTransfer, whole, signal);
    await putPart(deps, { ...input, onProgress: share }, { url, start: 0, end: size - 1 });
    return;
  }
  const { id: uploadId, partBytes } = granted.upload;
  const etags: string[] = [];
  for (let start = 0; start < size; start += partBytes) {
    const part: Transfer = { of: 'part', uploadId, number: etags.length + 1 };
    const onProgress = (sent: number): void => share(start + sent);
    const url = (): Promise<string> => requestUrl(requestTransfer, part, signal);
    const end = Math.min(size, start + partBytes) - 1;
    etags.push(etagOf(await putPart(deps, { ...input, onProgress }, { url, start, end })));
  }
  const url = (): Promise<string> => requestUrl(requestTransfer, { of: 'completion', uploadId }, signal);
  await complete(deps, { url, signal }, etags);
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
    const response = await openRequest(
      { method: 'PUT', url: await url(), headers, signal: input.signal },
      (request) => {
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
      },
    );
    response.resume();
    refuse(response);
    return response;
  });
}

/** Joins the parts to one object. S3 may report a failure in the body of a response with status 200. */
async function complete(
  deps: RetryDeps,
  { url, signal }: { readonly url: () => Promise<string>; readonly signal: AbortSignal },
  etags: readonly string[],
): Promise<void> {
  const parts = etags.map((etag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${etag}</ETag></Part>`);
  const body = `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`;
  const headers = { 'content-length': String(Buffer.byteLength(body)), 'content-type': 'application/xml' };
  await retryTransfer(deps, signal, async () => {
    const response = await openRequest({ method: 'POST', url: await url(), headers, signal }, (request) =>
      request.end(body),
    );
    const content = await text(response).catch((error: unknown) => {
      throw new TransientFault('the response was interrupted', { cause: error });
    });
    refuse(response);
    if (content.includes('<Error>')) throw new TransientFault('the store failed to complete the multipart upload');
  });
}

function refuse({ statusCode: status = 0 }: IncomingMessage): void {
  if (status >= 200 && status < 300) return;
  throw faultOfStatus(status, 'upload');
}
