import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { isTransient, openRequest } from '#worker-image/transfer/http-request.ts';
import { retrying, TransferFailed, TransientFault, type RetryDeps } from '#worker-image/transfer/retrying.ts';

export interface Upload {
  readonly url: string;
  readonly path: string;
  readonly contentType: string;
  readonly signal: AbortSignal;
  /** 0 to 1. */
  readonly onProgress: (share: number) => void;
}

/**
 * Streams the output from its file to the store.
 * @throws TransferFailed when the store stays out of reach or refuses.
 */
export async function upload(deps: RetryDeps, input: Upload): Promise<void> {
  const { size } = await stat(input.path);
  const headers = { 'content-length': String(size), 'content-type': input.contentType };
  await retrying(deps, input.signal, async (moved) => {
    const response = await openRequest({ method: 'PUT', url: input.url, headers, signal: input.signal }, (request) => {
      let sent = 0;
      const file = createReadStream(input.path);
      file.on('data', (chunk) => {
        sent += chunk.length;
        moved();
        input.onProgress(sent / size);
      });
      file.once('error', (error) => request.destroy(error));
      request.once('close', () => file.destroy());
      file.pipe(request);
    });
    response.resume();
    const status = response.statusCode ?? 0;
    if (status >= 200 && status < 300) return;
    if (isTransient(status)) throw new TransientFault(`the store answered ${status}`);
    throw new TransferFailed(`the store refused the upload with status ${status}`);
  });
}
