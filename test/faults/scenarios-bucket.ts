/** A bucket that fails, returns wrong responses or is unreachable, while requests and jobs use it. */
import { setTimeout as delay } from 'node:timers/promises';
import { createHash } from 'node:crypto';
import { createJob, CSV, direct, ended, postJob, ROWS, upload } from '#test/faults/account.ts';
import { BUCKET_FAULTS, type BucketFault, type BucketProxy } from '#test/faults/bucket-proxy.ts';
import { whyNoBucket } from '#test/faults/kept-files.ts';
import { must, mustEqual, type Scenario, type Stage } from '#test/faults/scenario.ts';

/** Allowed ends of a job during the fault, by fault. In all other cases it must succeed. */
const ENDS: Readonly<Partial<Record<BucketFault, readonly string[]>>> = {
  // What the store says is not there, is not there.
  missing: ['input_missing', 'output_upload_failed', 'internal'],
  'other ETag': ['input_changed'],
};

export const BUCKET_SCENARIOS: readonly Scenario[] = [
  {
    name: 'bucket-errors',
    breaks: 'the bucket answers some requests with errors, late, in part, with wrong ETags or not at all',
    holds: 'uploads and jobs succeed with the right bytes, or fail with an error and are not billed',
    files: 'bucket',
    run: async (stage) => {
      const proxy = bucketOf(stage);
      if (proxy === null) return;
      const { account, random } = stage;
      const fault = random.pick(BUCKET_FAULTS);
      const percent = fault === 'late' ? 15 : 30;
      proxy.fail({ faults: [fault], percent, random });
      const ids = [
        await createJob(account, { input: { upload: await upload(account) } }),
        await createJob(account, { input: { url: account.url('people.csv') } }),
        await createJob(account, { output: { url: account.url('output') } }),
      ];
      await delay(random.below(2000));
      mustEqual((await direct(account)).status, 200, 'a direct request, which needs no bucket');
      const outcomes: string[] = [];
      for (const id of ids) outcomes.push(await outcomeUnder(stage, id, ENDS[fault] ?? []));
      stage.note(`${proxy.met()} requests met "${fault}"; the jobs: ${outcomes.join(', ')}`);
      proxy.mend();
      for (const [index, id] of ids.entries()) {
        if (outcomes[index] === 'succeeded' && index < 2) await mustBeRight(stage, id);
      }
    },
  },
  {
    name: 'bucket-outage',
    breaks: 'the bucket cannot be reached for some seconds at any step of uploads and jobs',
    holds: 'uploads are refused with 5xx; jobs wait and succeed; nothing is lost',
    files: 'bucket',
    seeds: 10,
    run: async (stage) => {
      const proxy = bucketOf(stage);
      if (proxy === null) return;
      const { account, random } = stage;
      const before = [await createJob(account), await createJob(account)];
      const waiting = await upload(account);
      await delay(random.below(1500));
      proxy.fail({ faults: ['unreachable'], percent: 100, random });
      const made = await account.call('POST', '/v1/uploads', { json: { size: CSV.length, filename: 'people.csv' } });
      mustEqual(made.status, 201, 'an upload without content');
      const put = account.call('PUT', String(made.body.url), { body: CSV });
      const during = await postJob(account, { input: { upload: waiting } });
      mustEqual(during.status, 202, 'a job while the bucket is unreachable');
      await delay(2000 + random.below(6000));
      proxy.mend();
      must([200, 500, 503].includes((await put).status), `an upload was answered with ${(await put).status}`);
      for (const id of [...before, String(during.body.id)]) {
        mustEqual((await ended(account, id)).status, 'succeeded', id);
        await mustBeRight(stage, id);
      }
    },
  },
  {
    name: 'bucket-multipart',
    breaks: 'an upload of many parts to a bucket that fails sometimes',
    holds: 'a part or the end may have to be sent again; the content is the parts, in order',
    files: 'bucket',
    seeds: 5,
    slow: true,
    run: async (stage) => {
      const proxy = bucketOf(stage);
      if (proxy === null) return;
      const { account, random } = stage;
      const row = (number: number): string => `${String(number).padStart(9, '0')},Ada Lovelace\n`;
      const bytes = Buffer.from(`id,name\n${Array.from({ length: 4_600_000 }, (_, index) => row(index)).join('')}`);
      const json = { size: bytes.length, filename: 'a.csv' };
      const made = (await account.call('POST', '/v1/uploads', { json })).body;
      proxy.fail({ faults: ['error', 'slow down', 'reply lost', 'unreachable'], percent: 10, random });
      for (const [index, part] of (made.parts as { url: string }[]).entries()) {
        const piece = bytes.subarray(index * made.part_size, (index + 1) * made.part_size);
        await untilTaken(() => account.call('PUT', part.url, { body: piece }));
      }
      await untilTaken(() => account.call('POST', made.complete_url));
      proxy.mend();
      const job = await ended(account, await createJob(account, { input: { upload: made.id } }), 180);
      mustEqual([job.status, job.input.size], ['succeeded', bytes.length], 'the job on it');
      const receipt = await account.call('GET', `/v1/jobs/${job.id}/receipt`);
      mustEqual(
        receipt.body.payload.input.sha256,
        createHash('sha256').update(bytes).digest('hex'),
        'what was worked on',
      );
    },
  },
];

function bucketOf({ world, note }: Stage): BucketProxy | null {
  if (world.files.proxy === null) note(`left out: ${whyNoBucket()}`);
  return world.files.proxy;
}

/** Returns the end of the job while the fault continues. Checks that a readable output is complete. */
async function outcomeUnder({ account }: Stage, id: string, allowed: readonly string[]): Promise<string> {
  const job = await ended(account, id, 180);
  if (job.status === 'succeeded') {
    const output = await account.call('GET', `/v1/jobs/${id}/output`);
    must(
      [200, 0, 404, 500, 503].includes(output.status) && (output.status !== 200 || isRight(output.body)),
      `the output was answered with ${output.status} and ${output.bytes.length} bytes`,
    );
    return 'succeeded';
  }
  must(allowed.includes(job.error?.code), `${id} ended with ${JSON.stringify(job.error)}`);
  return String(job.error.code);
}

async function mustBeRight({ account }: Stage, id: string): Promise<void> {
  const output = await account.call('GET', `/v1/jobs/${id}/output`);
  must(output.status === 200 && isRight(output.body), `the output was answered with ${output.status}`);
}

function isRight(body: unknown): boolean {
  return JSON.stringify(body) === JSON.stringify(ROWS);
}

async function untilTaken(send: () => Promise<{ status: number }>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const { status } = await send();
    // 409: it was done, and the response got lost.
    if (status === 200 || status === 409) return;
    must([0, 500, 503].includes(status) && tries < 20, `the response was ${status} at try ${tries}`);
  }
}
