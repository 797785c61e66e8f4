/** The installed service as a test uses it: a client, jobs on samples, the receiver of their webhooks. */
import { readFileSync } from 'node:fs';
import { expect, inject } from 'vitest';
import type { Kind } from '#crds/catalogue/formats.ts';
import { connectToApi } from '#test/e2e/installation.ts';
import { receiverPod, type ReceiverPod } from '#test/e2e/receiver-pod.ts';
import type { ApiClient } from '#test/support/api-client.ts';
import { upload } from '#test/support/run-through.ts';

export interface Service {
  readonly api: ApiClient;
  readonly receiver: ReceiverPod;
  /** Id of a new job with a webhook to `/webhook`, unless `more` says otherwise. */
  createJob(work: SampleWork, more?: object): Promise<string>;
  close(): Promise<void>;
}

export interface SampleWork {
  readonly sample: string;
  readonly operation: 'compress' | 'convert';
  readonly to?: string;
}

export const WORK: Readonly<Record<Kind, SampleWork>> = {
  image: { sample: 'photo.jpg', operation: 'compress' },
  pdf: { sample: 'report.pdf', operation: 'compress' },
  video: { sample: 'clip.mkv', operation: 'compress' },
  audio: { sample: 'talk.wav', operation: 'convert', to: 'mp3' },
  word: { sample: 'letter.docx', operation: 'convert', to: 'pdf' },
  sheet: { sample: 'budget.xlsx', operation: 'convert', to: 'pdf' },
  presentation: { sample: 'slides.pptx', operation: 'convert', to: 'pdf' },
  table: { sample: 'people.csv', operation: 'convert', to: 'xlsx' },
  font: { sample: 'typeface.ttf', operation: 'convert', to: 'woff2' },
};
/** Work that takes long enough to be observed while it runs, also on a fast node. */
export const LONG_WORK: SampleWork = { sample: 'clip.mp4', operation: 'compress' };

/** Timeout of a job on a small, busy node, in seconds. */
export const JOB_SECONDS = 240;

export const sample = (name: string): Buffer => readFileSync(`api/data/samples/${name}`);

export async function useService(): Promise<Service> {
  const { key, receiverUrl, receiverAuthority } = inject('e2e');
  const api = await connectToApi(key);
  const receiver = receiverPod({ url: receiverUrl, authority: receiverAuthority });
  return {
    api,
    receiver,
    async createJob({ sample: name, operation, to }, more = {}) {
      const input = { upload: await upload(api, sample(name), name) };
      const options = to === undefined ? {} : { convert: { to } };
      const json = { operation, input, options, webhook_url: `${receiver.url}/webhook`, ...more };
      const created = await api('POST', '/v1/jobs', { json });
      expect(created.status, created.bytes.toString()).toBe(202);
      return String(created.json()['id']);
    },
    close: () => api.close(),
  };
}
