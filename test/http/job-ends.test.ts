/** Final statuses of jobs with missing or changed inputs, failures and cancellations. */
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { noise } from '#test/fixtures/noise.ts';
import { expectRefusal } from '#test/support/expect-refusal.ts';
import { finished, runJob, upload } from '#test/support/run-through.ts';
import { useService } from '#test/support/use-service.ts';

const { service, api, test, makeAccount } = await useService('scale');

const sample = (name: string) => readFile(new URL(`../../api/data/samples/${name}`, import.meta.url));
const csv = { bytes: Buffer.from('id,name\n1,Ada\n'), filename: 'people.csv' };
const toJson = { operation: 'convert', options: { convert: { to: 'json' } } };
/** Input that takes seconds to process, so that the test can act meanwhile. */
const slow = {
  bytes: await noise(3000, 2200, 60).jpeg().toBuffer(),
  filename: 'slow.jpg',
};
const toAvif = { operation: 'compress', options: { image: { format: 'avif', resize: false } } };

async function createJob(fields: object, key?: string): Promise<string> {
  const created = await api('POST', '/v1/jobs', { json: fields, ...(key === undefined ? {} : { key }) });
  expect(created.status).toBe(202);
  return String(created.json()['id']);
}

describe('a job', () => {
  // Promise, Bad input, case by case: Uploads used or changed
  // Promise, Jobs: Input_missing, input_changed, and the codes of the engine
  it('fails with input_missing when its upload is missing at the start', async () => {
    const input = await upload(api, csv.bytes, csv.filename);
    await rm(path.join(service.data, 'files', 'objects', 'uploads', input), { recursive: true });
    const done = await finished(api, await createJob({ ...toJson, input: { upload: input } }));
    expect(done).toMatchObject({
      status: 'failed',
      error: { code: 'input_missing', type: 'invalid_request_error' },
      result: null,
      billed: false,
      files_deleted: true,
    });
  });

  // Promise, Bad input, case by case: Uploads used or changed
  // Promise, Jobs: Input_missing, input_changed, and the codes of the engine
  it('fails with input_changed when its upload is overwritten after its creation', async () => {
    const input = await upload(api, slow.bytes, slow.filename);
    const id = await createJob({ ...toAvif, input: { upload: input } });
    expect((await api('PUT', `/v1/uploads/${input}/content`, { body: csv.bytes })).status).toBe(200);
    expect(await finished(api, id)).toMatchObject({
      status: 'failed',
      error: { code: 'input_changed' },
      billed: false,
    });
  });

  // Promise, Bad input, case by case: Features
  // Promise, Jobs: Feature_not_enabled after identification
  it.each([
    ['clip.mp4', { operation: 'compress' }, 'video'],
    ['photo.heic', { operation: 'compress' }, 'heic_output'],
  ])('on %s fails when the account lacks the feature', async (name, fields, feature) => {
    const other = await makeAccount('scale');
    await service.mediactl('account', 'set', other.account, '--no-feature', feature);
    const as = ((method, at, sending = {}) => api(method, at, { key: other.live, ...sending })) as typeof api;
    const done = await runJob(as, { bytes: await sample(name), filename: name }, fields);
    expect(done).toMatchObject({ status: 'failed', error: { code: 'feature_not_enabled', type: 'permission_error' } });
  });

  // Promise, Jobs: Input_missing, input_changed, and the codes of the engine
  it.each([
    ['encrypted.pdf', { operation: 'compress' }, 'encrypted_pdf', 'processing_error'],
    ['too-many-pixels.png', { operation: 'compress' }, 'limit_exceeded', 'processing_error'],
    ['corrupt.jpg', { operation: 'compress' }, 'processing_failed', 'processing_error'],
    [
      'report.pdf',
      { operation: 'convert', options: { convert: { to: 'png', page: 999 } } },
      'invalid_options',
      'invalid_request_error',
    ],
    [
      'report.pdf',
      { operation: 'convert', options: { convert: { to: 'docx' } } },
      'unsupported_target',
      'invalid_request_error',
    ],
    ['talk.mp3', { operation: 'strip_metadata' }, 'unsupported_input', 'invalid_request_error'],
  ])('on %s with %j fails with %s', async (name, fields, code, type) => {
    const done = await runJob(api, { bytes: await sample(name), filename: name }, fields);
    expect(done).toMatchObject({ status: 'failed', error: { code, type }, billed: false, files_deleted: true });
  });

  // Promise, Jobs: Cancel: at once, with its files; repeatable; deletes the files of a finished job
  // Promise, States: One upload serves one job, whatever its result
  it('that is running is canceled at once, and its upload is deleted', async () => {
    const input = await upload(api, slow.bytes, slow.filename);
    const id = await createJob({ ...toAvif, input: { upload: input } });
    await expect
      .poll(async () => (await api('GET', `/v1/jobs/${id}`)).json()['status'], { timeout: 30_000 })
      .toBe('processing');
    const canceled = (await api('DELETE', `/v1/jobs/${id}`)).json();
    expect(canceled).toMatchObject({
      status: 'canceled',
      error: { code: 'canceled' },
      result: null,
      files_deleted: true,
    });
    expect((await api('DELETE', `/v1/jobs/${id}`)).json()).toEqual(canceled);
    expectRefusal(await api('PUT', `/v1/uploads/${input}/content`, { body: 'x' }), 'not_found');
  });

  // Promise, What the service does: Live and test keys do not see each other's jobs
  it('with a test key runs on a sample, is seen by test keys only and costs nothing', async () => {
    const asTest = ((method, at, sending = {}) => api(method, at, { key: test, ...sending })) as typeof api;
    const done = await runJob(asTest, { bytes: await sample('people.csv'), filename: 'people.csv' }, toJson);
    expect(done).toMatchObject({ status: 'succeeded', livemode: false, billed: false });
    expectRefusal(await api('GET', `/v1/jobs/${done['id']}`), 'not_found');
    const listed = (await asTest('GET', '/v1/jobs')).json()['data'] as { id: string }[];
    expect(listed.map(({ id }) => id)).toContain(done['id']);
  });

  // Promise, Settled where the interface leaves it open: A test upload over 25 MB is refused when the job is created
  // Promise, Uploads: A test job takes samples only, up to 25 MB
  it('with a test key refuses an upload over 25 MB', async () => {
    const { id, url } = (await api('POST', '/v1/uploads', { key: test, json: { size: 26_214_401 } })).json() as {
      id: string;
      url: string;
    };
    await api('PUT', url, { key: test, body: Buffer.alloc(26_214_401) });
    const refused = await api('POST', '/v1/jobs', {
      key: test,
      json: { operation: 'compress', input: { upload: id } },
    });
    expectRefusal(refused, 'file_too_large', { param: 'input.upload' });
  });
});

describe('an old job', () => {
  // Promise, Bad input, case by case: Deletion, other modes, 30 days
  // Promise, States: Files are deleted at `expires_at`, the record after 30 days
  it('is deleted everywhere 30 days after it finished, and not before', async () => {
    const done = await runJob(api, csv, toJson);
    const finishedAgo = (age: string) =>
      service.query('update jobs set completed_at = now() - $2::interval where id = $1', [done['id'], age]);
    await finishedAgo('29 days 23:59:00');
    expect((await api('GET', `/v1/jobs/${done['id']}`)).status).toBe(200);
    await finishedAgo('30 days 00:00:01');
    for (const part of ['', '/output', '/receipt']) {
      expectRefusal(await api('GET', `/v1/jobs/${done['id']}${part}`), 'not_found');
    }
    expectRefusal(await api('DELETE', `/v1/jobs/${done['id']}`), 'not_found');
    const listed = (await api('GET', '/v1/jobs?limit=100')).json()['data'] as { id: string }[];
    expect(listed.map(({ id }) => id)).not.toContain(done['id']);
    expectRefusal(await api('GET', `/v1/jobs?starting_after=${done['id']}`), 'bad_request', {
      param: 'starting_after',
    });
  });
});
