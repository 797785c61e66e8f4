/**
 * A caller who tries to exceed the monthly spend cap. The cap of each account is the cost of two PDFs. Every attempt
 * exceeds the cap by the cost of one request at most.
 * See docs/reference/estimate-and-usage.md#monthly-spend-cap.
 */
import { request as httpsRequest } from 'node:https';
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { FormData } from 'undici';
import { describe, expect, it } from 'vitest';
import { noise } from '#test/fixtures/noise.ts';
import { blanks, pdf } from '#test/hostile/forge-pdf.ts';
import type { ApiResponse } from '#test/support/api-client.ts';
import { startReceiver } from '#test/support/receiver.ts';
import { finished, upload } from '#test/support/run-through.ts';
import { useService, type TestAccount } from '#test/support/use-service.ts';

const { service, api, makeAccount } = await useService();

/** Cost of one file, in micro-dollars. */
const COST = { pdf: 10_000, image: 2000, audio: 2000 } as const;
const CAP = 2 * COST.pdf;
const AT_ONCE = 50;

const sample = (name: string): Promise<Buffer> =>
  readFile(new URL(`../../../api/data/samples/${name}`, import.meta.url));
const document = pdf({ content: { entries: '', data: blanks(300_000) } });
const photo = await noise(300, 200).jpeg({ quality: 97 }).toBuffer();
const audioFile = await sample('talk.wav');

/** Server of a PDF that a job fetches under the name of an image. */
const host = await startReceiver({
  tls: false,
  respond: (response) => response.writeHead(200, { 'content-length': document.length }).end(document),
});

interface Caller extends TestAccount {
  readonly call: typeof api;
}

/** Starts work and returns the responses of direct requests and job creations. */
type Attempt = (caller: Caller) => Promise<readonly ApiResponse[]>;

async function aCaller(capMicroUsd = CAP): Promise<Caller> {
  const account = await makeAccount('growth');
  await service.query('update accounts set spend_cap_micro_usd = $2 where id = $1', [account.account, capMicroUsd]);
  const call = (method: string, at: string, sending = {}) => api(method, at, { key: account.live, ...sending });
  return { ...account, call: Object.assign(call, { close: async () => undefined }) };
}

const many = <T>(count: number, make: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => make(index)));

/** Maximum number of queued and processing jobs on this plan. */
const JOBS = 30;
const createJob = (caller: Caller, fields: object, headers: Record<string, string> = {}): Promise<ApiResponse> =>
  caller.call('POST', '/v1/jobs', { json: { operation: 'compress', ...fields }, headers });
const uploads = (caller: Caller, count: number, name: string): Promise<string[]> =>
  many(count, () => upload(caller.call, document, name));

/** Returns the spend of the month after all work has ended, in micro-dollars. */
async function spentBy(caller: Caller, answers: readonly ApiResponse[]): Promise<number> {
  const jobs = answers.filter(({ status }) => status === 202).map((response) => String(response.json()['id']));
  for (const id of jobs) await finished(caller.call, id);
  const rows = await service.query(
    'select coalesce(sum(amount_micro_usd), 0)::bigint as spent from monthly_spend where account_id = $1',
    [caller.account],
  );
  return Number(rows[0]?.['spent']);
}

function form(file: Buffer, filename: string, options?: object): FormData {
  const body = new FormData();
  if (options !== undefined) body.append('options', JSON.stringify(options));
  body.append('file', new Blob([new Uint8Array(file)]), filename);
  return body;
}

/** Sends the first bytes, waits, and sends the rest. */
function slowly(caller: Caller, path: string, body: Buffer): Promise<ApiResponse> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${caller.live}`, 'content-type': 'image/png' };
    const sent = httpsRequest(`${service.baseUrl}${path}`, { method: 'POST', ca: service.ca, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const bytes = Buffer.concat(chunks);
        const json = () => JSON.parse(bytes.toString('utf8')) as Record<string, any>;
        resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes, json });
      });
    });
    sent.on('error', reject);
    sent.write(body.subarray(0, 3));
    void delay(50).then(() => sent.end(body.subarray(3)));
  });
}

const ATTEMPTS: readonly (readonly [what: string, attempt: Attempt])[] = [
  [
    'fifty PDFs named a.png at once',
    ({ call }) => many(AT_ONCE, () => call('POST', '/v1/compress?filename=a.png', { body: document })),
  ],
  [
    'fifty PDFs that a Content-Disposition names a.jpg',
    ({ call }) =>
      many(AT_ONCE, () =>
        call('POST', '/v1/compress', {
          body: document,
          headers: { 'content-disposition': 'attachment; filename="a.jpg"', 'content-type': 'image/jpeg' },
        }),
      ),
  ],
  [
    'fifty PDFs in forms whose parts are named a.webp',
    ({ call }) => many(AT_ONCE, () => call('POST', '/v1/compress', { body: form(document, 'a.webp') })),
  ],
  [
    'fifty PDFs in forms behind a part of image options',
    ({ call }) =>
      many(AT_ONCE, () =>
        call('POST', '/v1/compress?filename=a.png', { body: form(document, 'a.png', { image: { quality: 50 } }) }),
      ),
  ],
  [
    'fifty PDFs with a preset of image options',
    async ({ call }) => {
      const preset = { name: 'photos', options: { image: { quality: 50 } } };
      expect((await call('POST', '/v1/presets', { json: preset })).status).toBe(201);
      return many(AT_ONCE, () => call('POST', '/v1/compress?preset=photos&filename=a.gif', { body: document }));
    },
  ],
  [
    'PDFs of which three bytes come first, and the rest later',
    (caller) => many(AT_ONCE, () => slowly(caller, '/v1/compress?filename=a.png', document)),
  ],
  [
    'PDFs behind a line of text that begins like a GIF',
    ({ call }) =>
      many(AT_ONCE, () =>
        call('POST', '/v1/compress?filename=a.gif', { body: Buffer.concat([Buffer.from('GIF89a\n'), document]) }),
      ),
  ],
  [
    'jobs on thirty uploads named a.png that are PDFs',
    async (caller) => {
      const ids = await uploads(caller, JOBS, 'a.png');
      return many(JOBS, (index) => createJob(caller, { input: { upload: ids[index] } }));
    },
  ],
  [
    'jobs on uploads that held an image before they held a PDF',
    async (caller) => {
      const ids = await many(JOBS, () => upload(caller.call, photo, 'a.jpg'));
      for (const id of ids)
        expect((await caller.call('PUT', `/v1/uploads/${id}/content`, { body: document })).status).toBe(200);
      return many(JOBS, (index) => createJob(caller, { input: { upload: ids[index] } }));
    },
  ],
  [
    'jobs on uploads that contain a PDF in place of an image as the job is created',
    async (caller) => {
      const ids = await many(JOBS, () => upload(caller.call, photo, 'a.jpg'));
      return many(JOBS, async (index) => {
        const changed = caller.call('PUT', `/v1/uploads/${ids[index]}/content`, { body: document });
        const [created] = await Promise.all([createJob(caller, { input: { upload: ids[index] } }), changed]);
        return created;
      });
    },
  ],
  [
    'jobs that each have an Idempotency-Key of their own, all on one upload',
    async (caller) => {
      const input = { upload: await upload(caller.call, document, 'a.png') };
      return many(JOBS, (index) => createJob(caller, { input }, { 'idempotency-key': `key-${index}` }));
    },
  ],
  [
    'jobs that fetch PDFs from an address that ends in .png',
    (caller) => many(JOBS, (index) => createJob(caller, { input: { url: `${host.url}/${index}.png` } })),
  ],
  [
    'jobs that are canceled as soon as they are created, and others in their place',
    async (caller) => {
      const ids = await uploads(caller, JOBS, 'a.png');
      return many(JOBS, async (index) => {
        const created = await createJob(caller, { input: { upload: ids[index] } });
        if (index % 2 === 0 && created.status === 202)
          await caller.call('DELETE', `/v1/jobs/${String(created.json()['id'])}`);
        return created;
      });
    },
  ],
  [
    'jobs and direct requests at the same moment',
    async (caller) => {
      const ids = await uploads(caller, 20, 'a.png');
      return many(40, (index) =>
        index < 20
          ? createJob(caller, { input: { upload: ids[index] } })
          : caller.call('POST', '/v1/compress?filename=a.png', { body: document }),
      );
    },
  ],
  [
    'requests of two live keys of the account at once',
    async (caller) => {
      const second = await service.mediactl(
        'key',
        'create',
        '--account',
        caller.account,
        '--mode',
        'live',
        '--name',
        'second',
      );
      return many(AT_ONCE, (index) =>
        api('POST', '/v1/compress?filename=a.png', {
          key: index % 2 === 0 ? caller.live : String(second['key']),
          body: document,
        }),
      );
    },
  ],
  [
    'audio named a.png',
    ({ call }) => many(AT_ONCE, () => call('POST', '/v1/compress?filename=a.png', { body: audioFile })),
  ],
];

describe('a caller who tries to exceed the spend cap', () => {
  it.each(ATTEMPTS)('by %s exceeds it by one request at most', async (_what, attempt) => {
    const caller = await aCaller();
    const answers = await attempt(caller);
    const spent = await spentBy(caller, answers);
    // Requests are refused only for the cap or for lack of a free engine process.
    expect(answers.map(({ status }) => status).filter((status) => ![200, 202, 402, 503].includes(status))).toEqual([]);
    expect(spent).toBeLessThanOrEqual(CAP + COST.pdf);
    expect(await service.query('select 1 from direct_reservations where account_id = $1', [caller.account])).toEqual(
      [],
    );
  });

  it('by any mix of files, names, lanes and forms, fifty at once, exceeds it by one request at most', async () => {
    const files = { pdf: document, image: photo, audio: audioFile } as const;
    const work = fc.record({
      file: fc.constantFrom(...(Object.keys(files) as (keyof typeof files)[])),
      name: fc.constantFrom('a.png', 'a.pdf', 'a.mp3', 'a.csv', 'a.mp4', 'a', null),
      way: fc.constantFrom('body', 'form', 'job'),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(work, { minLength: AT_ONCE, maxLength: AT_ONCE }),
        fc.integer({ min: 1, max: 60_000 }),
        async (works, cap) => {
          const caller = await aCaller(cap);
          const ids = await Promise.all(
            works.map(async ({ file, name, way }) =>
              way === 'job' ? upload(caller.call, files[file], name ?? '') : null,
            ),
          );
          const answers = await Promise.all(
            works.map(({ file, name, way }, index) => {
              if (way === 'job') return createJob(caller, { input: { upload: ids[index] } });
              const query = name === null ? '' : `?filename=${name}`;
              const body = way === 'form' ? form(files[file], name ?? 'file') : files[file];
              return caller.call('POST', `/v1/compress${query}`, { body });
            }),
          );
          expect(await spentBy(caller, answers)).toBeLessThanOrEqual(cap - 1 + COST.pdf);
        },
      ),
      { numRuns: 8, endOnFailure: true },
    );
  }, 300_000);
});

describe('a caller near the spend cap', () => {
  it.each([['a.pdf'], ['a.mp4'], [null]])('with budget for 3 images is served 3 of 50, named %s', async (name) => {
    const caller = await aCaller(3 * COST.image);
    const query = name === null ? '' : `?filename=${name}`;
    const answers = await many(AT_ONCE, () => caller.call('POST', `/v1/compress${query}`, { body: photo }));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
  });

  it('with budget for 3 images gets 3 of 10 jobs on uploads of images, whatever their name', async () => {
    const caller = await aCaller(3 * COST.image);
    const ids = await many(10, () => upload(caller.call, photo, 'a.mp4'));
    const answers = await many(10, (index) => createJob(caller, { input: { upload: ids[index] } }));
    expect(await spentBy(caller, answers)).toBe(3 * COST.image);
  });

  it('is served one request, whatever it costs', async () => {
    const caller = await aCaller(1);
    expect((await caller.call('POST', '/v1/compress', { body: document })).status).toBe(200);
    expect((await caller.call('POST', '/v1/compress', { body: document })).status).toBe(402);
  });

  it('pays nothing for refused requests, and is served afterwards', async () => {
    const caller = await aCaller();
    const refused = await many(20, () =>
      caller.call('POST', '/v1/compress?filename=a.pdf', { body: '%PDF-1.7 broken' }),
    );
    expect(refused.map(({ status }) => status).every((status) => status === 422 || status === 402)).toBe(true);
    expect((await caller.call('POST', '/v1/compress?filename=a.png', { body: document })).status).toBe(200);
    expect(await spentBy(caller, [])).toBe(COST.pdf);
  });
});
