/** A file through a job of the service, from bytes in hand to bytes in hand. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Operation } from '#crds/catalogue/formats.ts';
import type { SentOptions } from '#crds/catalogue/options/options.ts';
import type { ApiClient } from '#test/support/api-client.ts';
import { upload } from '#test/support/run-through.ts';
import type { BenchService } from './bench-service.ts';

interface BenchJob {
  readonly bytes: Buffer;
  readonly filename: string;
  readonly operation: Operation;
  readonly options?: SentOptions;
}

const POLL_MS = 25;

/** Sends the file, creates a job, waits and returns the output. @throws Error when the job does not succeed. */
export async function runBenchJob({ api }: Pick<BenchService, 'api'>, job: BenchJob): Promise<Buffer> {
  const input = { upload: await upload(api, job.bytes, job.filename) };
  const { operation, options = {} } = job;
  const created = (await api('POST', '/v1/jobs', { json: { operation, options, input } })).json();
  const { download_url: url } = await untilSucceeded(api, String(created['id']));
  return (await api('GET', url, { key: null })).bytes;
}

/** Polls until the job ends. Returns its result. @throws Error when it does not succeed. */
export async function untilSucceeded(api: ApiClient, id: string): Promise<{ readonly download_url: string }> {
  for (;;) {
    const { status, result, error } = (await api('GET', `/v1/jobs/${id}`)).json();
    if (status === 'succeeded') return result as { download_url: string };
    if (status !== 'queued' && status !== 'processing')
      throw new Error(`the job ${id} ended with ${JSON.stringify(error ?? status)}`);
    await delay(POLL_MS);
  }
}
