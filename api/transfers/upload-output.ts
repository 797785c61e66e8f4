import { z } from 'zod';
import type { FileStore } from '#api/files/file-store.ts';
import { failed, failedBy, failedWithStatus, type TransferFailure } from '#api/transfers/transfer-outcome.ts';
import type { SafeFetch } from '#api/outbound/safe-fetch.ts';

interface UploadDeps {
  readonly safeFetch: SafeFetch;
  readonly files: Pick<FileStore, 'get'>;
}

/** Schema of the decrypted `jobs.output_target`. */
export const callerTargetSchema = z.object({ url: z.string(), headers: z.record(z.string(), z.string()) });

interface CallerUpload {
  readonly target: z.infer<typeof callerTargetSchema>;
  /** Key of the output in the file store. */
  readonly key: string;
  readonly mediaType: string;
  readonly signal: AbortSignal;
}

/** Timeout without a byte in either direction, in milliseconds; also the time for the response after the last byte. */
const IDLE_MS = 60_000;
const TOTAL_MS = 30 * 60 * 1000;

/**
 * PUTs the output to `output.url` with the caller's headers, whose Content-Type takes precedence. Any 2xx is success,
 * a redirect is a failure. Returns `missing` when the file store has no output.
 * @throws the error of the file store when it fails in the middle of the output.
 * See docs/reference/jobs.md#output-to-a-url.
 */
export async function uploadOutput(
  { safeFetch, files }: UploadDeps,
  { target, key, mediaType, signal }: CallerUpload,
): Promise<{ readonly outcome: 'sent' | 'missing' } | TransferFailure> {
  const output = await files.get(key);
  if (output === null) return { outcome: 'missing' };
  let readError: Error | null = null;
  output.body.once('error', (error) => (readError = error));
  try {
    const response = await safeFetch({
      url: target.url,
      purpose: 'output',
      method: 'PUT',
      headers: {
        'user-agent': 'Svc-Delivery/1',
        'content-type': mediaType,
        ...lowerCaseNames(target.headers),
        'content-length': String(output.size),
      },
      body: output.body,
      maxRedirects: 0,
      totalMs: TOTAL_MS,
      idleMs: IDLE_MS,
      maxBodyBytes: 0,
      signal,
    });
    response.discard();
    const { status } = response;
    if (status >= 300 && status < 400)
      return failed(`the response has status ${status}, and redirects are not followed`);
    return status >= 200 && status < 300 ? { outcome: 'sent' } : failedWithStatus(status);
  } catch (error) {
    return failedBy(readError ?? error);
  } finally {
    output.body.destroy();
  }
}

function lowerCaseNames(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
