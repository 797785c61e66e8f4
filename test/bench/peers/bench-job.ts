/** A file through a job of the service, from bytes in hand to bytes in hand. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Operation } from '#crds/formats.ts';
import type { SentOptions } from '#crds/options/options.ts';
import { upload } from '#test/support/run-through.ts';
import type { BenchService } from './bench-service.ts';

interface BenchJob {
  readonly bytes: Buffer;
  readonly filename: string;
  readonly operation: Operation;
  readonly options?: SentOptions;
}

const POLL_MS = 20;

/** Upload, job, wait, download. @throws Error when the job does not succeed. */
export async function runBenchJob({ api }: Pick<BenchService, 'api'>, job: BenchJob): Promise<Buffer> {
  const input = { upload: await upload(api, job.bytes, job.filename) };
  const { operation, options = {} } = job;
  const created = (await api('POST', '/v1/jobs', { json: { operation, options, input } })).json();
  for (;;) {
    const now = (await api('GET', `/v1/jobs/${String(created['id'])}`)).json();
    if (now['status'] === 'succeeded') {
      const result = now['result'] as { download_url: string };
      return (await api('GET', result.download_url, { key: null })).bytes;
    }
    if (now['status'] !== 'queued' && now['status'] !== 'processing')
      throw new Error(`the job on ${job.filename} ended with ${JSON.stringify(now['error'] ?? now)}`);
    await delay(POLL_MS);
  }
}
