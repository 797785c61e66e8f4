import { z } from 'zod';
import type { FileStore } from '#api/files/file-store.ts';
import { failed, failedBy, failedWithStatus, type TransferFailure } from '#api/transfers/transfer-outcome.ts';
import type { SafeFetch } from '#crds/shared/safe-fetch.ts';

interface DeliverDeps {
  readonly safeFetch: SafeFetch;
  readonly files: Pick<FileStore, 'get'>;
}

/** What `jobs.output_target` holds, encrypted. */
export const outputTargetSchema = z.object({ url: z.string(), headers: z.record(z.string(), z.string()) });

interface Delivery {
  readonly target: z.infer<typeof outputTargetSchema>;
  /** Where the output is. */
  readonly key: string;
  readonly mediaType: string;
  readonly signal: AbortSignal;
}

/** A host that takes nothing for so long, or does not answer when it has all, is given up. */
const IDLE_MS = 60_000;
const TOTAL_MS = 30 * 60 * 1000;

/**
 * PUTs the output to `output.url` with the caller's headers (a Content-Type among them wins); any 2xx is
 * success and a redirect is a failure. `missing`: the output is not in our store. Spec: Jobs, `output.url`.
 */
export async function deliverOutput(
  { safeFetch, files }: DeliverDeps,
  { target, key, mediaType, signal }: Delivery,
): Promise<{ readonly outcome: 'sent' | 'missing' } | TransferFailure> {
  const output = await files.get(key);
  if (output === null) return { outcome: 'missing' };
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
    if (status >= 300 && status < 400) return failed(`it answered ${status}, and redirects are not followed`);
    return status >= 200 && status < 300 ? { outcome: 'sent' } : failedWithStatus(status);
  } catch (error) {
    return failedBy(error);
  } finally {
    output.body.destroy();
  }
}

function lowerCaseNames(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
