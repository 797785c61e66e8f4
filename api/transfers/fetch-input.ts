import { Readable } from 'node:stream';
import { FileTooLarge, SizeMismatch, type FileStore } from '#api/files/file-store.ts';
import { responseFilename } from '#api/transfers/response-filename.ts';
import { failed, failedBy, failedWithStatus, type TransferFailure } from '#api/transfers/transfer-outcome.ts';
import { LIMITS } from '#crds/catalogue/plans.ts';
import type { SafeFetch, SafeResponse } from '#api/outbound/safe-fetch.ts';

interface FetchDeps {
  readonly safeFetch: SafeFetch;
  readonly files: Pick<FileStore, 'put'>;
}

interface Fetch {
  readonly url: string;
  /** Key under which the file is stored. */
  readonly key: string;
  /** Limit of the plan, in bytes. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  /** Called with the number of received bytes and the size of the file, as bytes arrive. */
  readonly onBytes?: (received: number, size: number) => void;
}

export interface FetchedInput {
  readonly outcome: 'fetched';
  readonly etag: string;
  readonly filename: string | null;
  /** Size in bytes. */
  readonly size: number;
}

/** Timeout without a byte, in milliseconds. */
const IDLE_MS = 30_000;
/** Deadline of a fetch, in milliseconds: enough for 5 GB at 1.4 MB/s. */
const TOTAL_MS = LIMITS.fetchSeconds * 1000;

/**
 * Stores the response of `input.url` to a GET request. It must have status 200, a `Content-Length` within the plan's
 * limit, as many bytes and no content coding, after at most 3 redirects. See docs/reference/jobs.md#input-from-a-url.
 */
export async function fetchInput(
  { safeFetch, files }: FetchDeps,
  { url, key, maxBytes, signal, onBytes }: Fetch,
): Promise<FetchedInput | TransferFailure> {
  let response: SafeResponse | null = null;
  try {
    response = await safeFetch({
      url,
      purpose: 'input',
      method: 'GET',
      headers: { accept: '*/*', 'user-agent': 'Svc-Fetch/1' },
      maxRedirects: LIMITS.inputRedirects,
      totalMs: TOTAL_MS,
      idleMs: IDLE_MS,
      maxBodyBytes: maxBytes,
      signal,
    });
    const refusal = responseRefusal(response, maxBytes);
    if (refusal !== null) return refusal;
    const size = Number(response.header('content-length'));
    const counted = counting(response.body(), (received) => onBytes?.(received, size));
    const stored = await files.put(key, Readable.from(counted, { objectMode: false }), { maxBytes, size });
    const filename = responseFilename(response.header('content-disposition'), url);
    return { outcome: 'fetched', etag: stored.etag, filename, size: stored.size };
  } catch (error) {
    if (error instanceof FileTooLarge)
      return failed(`the file has more than the ${maxBytes} bytes that the plan allows`);
    if (error instanceof SizeMismatch) return failed('the file has another size than its Content-Length', true);
    return failedBy(error);
  } finally {
    response?.discard();
  }
}

async function* counting(body: AsyncGenerator<Buffer>, onReceived: (bytes: number) => void): AsyncGenerator<Buffer> {
  let received = 0;
  for await (const chunk of body) {
    received += chunk.length;
    onReceived(received);
    yield chunk;
  }
}

function responseRefusal(response: SafeResponse, maxBytes: number): TransferFailure | null {
  const { status } = response;
  if (status >= 300 && status < 400) return failed(`the response has status ${status} without a Location`);
  if (status !== 200) return failedWithStatus(status);
  const coding = response.header('content-encoding');
  if (coding !== null && coding.toLowerCase() !== 'identity') {
    return failed('the response has a Content-Encoding that was not requested: serve the file without it');
  }
  const length = response.header('content-length');
  if (length === null || !/^\d{1,15}$/.test(length)) return failed('the response has no Content-Length');
  if (Number(length) > maxBytes) return failed(`the file has ${length} bytes; the plan allows ${maxBytes}`);
  return null;
}
