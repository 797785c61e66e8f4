import { mkdirSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { DemoClient } from './api-client.ts';
import type { DemoOutcome } from './report.ts';
import type { DemoWork } from './usual-work.ts';
import type { WebhookReceiver } from './webhook-receiver.ts';

interface Job {
  readonly id: string;
  readonly status: 'queued' | 'processing' | 'succeeded' | 'failed' | 'canceled';
  readonly progress: { readonly percent: number };
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly result: {
    readonly kind: string;
    readonly output_format: string;
    readonly output_size: number;
    readonly download_url: string;
  } | null;
}

interface RunFileDeps {
  readonly api: DemoClient;
  readonly receiver: WebhookReceiver;
  readonly show: (file: string, status: string, detail: string) => void;
  readonly outputFolder: string;
}

const POLL_MS = 300;

/** Processes one file: upload, job, signed link, signed webhook. @throws Error with the reason when a step fails. */
export async function runFile(
  { api, receiver, show, outputFolder }: RunFileDeps,
  { file, work }: { file: string; work: DemoWork },
): Promise<DemoOutcome> {
  const name = path.basename(file);
  const { size: bytesIn } = await stat(file);
  show(name, 'upload', '');
  const upload = await api.upload(file);
  const startedMs = performance.now();
  const made = await api.call<Job>('POST', '/v1/jobs', { ...work, input: { upload }, webhook_url: receiver.url });
  const job = await untilFinal(api, made, (one) => show(name, one.status, `${one.progress.percent} %`));
  const seconds = (performance.now() - startedMs) / 1000;
  if (job.result === null)
    throw new Error(`The job ${job.id} ${job.status}: ${job.error?.code ?? ''}: ${job.error?.message ?? ''}`);
  mkdirSync(outputFolder, { recursive: true });
  const output = path.join(outputFolder, `${path.parse(name).name}.${job.result.output_format}`);
  const bytesOut = await api.download(job.result.download_url, output);
  if (bytesOut !== job.result.output_size)
    throw new Error(`The link returned ${bytesOut} bytes, the result reports ${job.result.output_size}.`);
  show(name, 'webhook', '');
  const event = await receiver.eventOf(job.id);
  show(name, 'done', `${output}, webhook ${event.type} verified`);
  return { file: name, kind: job.result.kind, operation: work.operation, bytesIn, bytesOut, seconds };
}

async function untilFinal(api: DemoClient, made: Job, onStatus: (job: Job) => void): Promise<Job> {
  let job = made;
  for (;;) {
    onStatus(job);
    if (job.status !== 'queued' && job.status !== 'processing') return job;
    await delay(POLL_MS);
    job = await api.call<Job>('GET', `/v1/jobs/${job.id}`);
  }
}
