import { createWriteStream } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { MediaError } from '#crds/contract/media-error.ts';
import { faultOfStatus, openRequest } from '#worker-image/transfer/http-request.ts';
import { requestUrl, type RequestTransfer } from '#worker-image/transfer/request-transfer.ts';
import { retryTransfer, TransientFault, type RetryDeps } from '#worker-image/transfer/retry-transfer.ts';

export interface Download {
  readonly requestTransfer: RequestTransfer;
  /** ETag that is sent as If-Match. */
  readonly etag: string;
  /** Size in bytes; null when it is not known. */
  readonly size: number | null;
  readonly path: string;
  readonly signal: AbortSignal;
  /** Called with the received share, 0 to 1, when the size is known. */
  readonly onProgress: (share: number) => void;
}

/**
 * Streams the input to a file.
 * @throws MediaError input_missing, input_changed; TransferFailed when the store refuses or stays unreachable.
 */
export function download(deps: RetryDeps, input: Download): Promise<void> {
  return retryTransfer(deps, input.signal, async (onBytes) => {
    const { etag, signal } = input;
    const url = await requestUrl(input.requestTransfer, { of: 'input' }, signal);
    const headers = { 'if-match': etag };
    const response = await openRequest({ method: 'GET', url, headers, signal }, (request) => request.end());
    try {
      refuseStatus(response.statusCode ?? 0);
      await store(response, input, onBytes);
    } finally {
      response.destroy();
    }
  });
}

function refuseStatus(status: number): void {
  if (status === 200) return;
  if (status === 404 || status === 410) {
    throw new MediaError(
      'input_missing',
      'The uploaded file no longer existed when the job started. Upload it again and create a new job.',
    );
  }
  if (status === 412) throw changed();
  throw faultOfStatus(status, 'download');
}

async function store(
  response: IncomingMessage,
  { path, size, onProgress, signal }: Download,
  onBytes: () => void,
): Promise<void> {
  const declared = response.headers['content-length'];
  const total = declared === undefined ? size : Number(declared);
  if (size !== null && total !== size) throw changed();
  let received = 0;
  response.on('data', (chunk: Buffer) => {
    received += chunk.length;
    onBytes();
    if (total !== null && total > 0) onProgress(received / total);
  });
  try {
    await pipeline(response, createWriteStream(path), { signal });
  } catch (error) {
    if (isFileFault(error)) throw error;
    throw new TransientFault('the download was interrupted', { cause: error });
  }
  if (total !== null && received !== total)
    throw new TransientFault(`the download ended after ${received} of ${total} bytes`);
}

/** Returns whether the file system failed, such as a full or read-only disk: a retry does not help. */
function isFileFault(error: unknown): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    ['ENOSPC', 'EROFS', 'EACCES', 'EDQUOT', 'EIO', 'ENOENT'].includes(String(error.code))
  );
}

function changed(): MediaError {
  return new MediaError(
    'input_changed',
    'The upload was overwritten after the job was created. Create a new job for the new content.',
  );
}
