import { createHash } from 'node:crypto';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { noise } from '#test/fixtures/noise.ts';
import { expectRefusal } from '#test/support/expect-refusal.ts';
import { finished, runJob, upload } from '#test/support/run-through.ts';
import { useService } from '#test/support/use-service.ts';

const { service, account, live, test, api, makeAccount, newKey } = await useService();

const CSV = Buffer.from('id,name\n0010,Ada\n0011,Grace\n');
const csvFile = { bytes: CSV, filename: 'people.csv' };
const toJson = { operation: 'convert', options: { convert: { to: 'json' } } };
const job = (json: object, headers: Record<string, string> = {}) => api('POST', '/v1/jobs', { json, headers });
const photo = await noise(600, 400).jpeg({ quality: 95 }).toBuffer();

describe('creating a job', () => {
  const input = { upload: 'upl_00000000000000000000' };
  // Promise, Bad input, case by case: `output.url` and its headers
  // Promise, Jobs: Fields, unknown ones refused with their path
  // Promise, Conventions and objects: Job object; metadata of 20 entries, 40 and 500 characters
  it.each([
    [{}, 'operation'],
    [{ operation: 'compress' }, 'input'],
    [{ operation: 'resize', input }, 'operation'],
    [{ operation: 'compress', input: {} }, 'input'],
    [{ operation: 'compress', input: { ...input, url: 'https://example.com/a.jpg' } }, 'input'],
    [{ operation: 'compress', input: { ...input, size: 1 } }, 'input.size'],
    [{ operation: 'compress', input, colour: 'red' }, 'colour'],
    [{ operation: 'compress', input, retention_seconds: 3599 }, 'retention_seconds'],
    [{ operation: 'compress', input, retention_seconds: 604_801 }, 'retention_seconds'],
    [{ operation: 'compress', input, metadata: { a: 1 } }, 'metadata.a'],
    [{ operation: 'compress', input, metadata: { ['k'.repeat(41)]: 'v' } }, `metadata.${'k'.repeat(41)}`],
    [
      {
        operation: 'compress',
        input,
        metadata: Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`k${n}`, 'v'])),
      },
      'metadata',
    ],
    [{ operation: 'compress', input, webhook_url: 'http://example.com/hook' }, 'webhook_url'],
    [{ operation: 'compress', input, webhook_url: 'https://10.0.0.1/hook' }, 'webhook_url'],
    [{ operation: 'compress', input, webhook_url: 'https://user@example.com/hook' }, 'webhook_url'],
    [{ operation: 'compress', input, output: { url: 'http://example.com/put' } }, 'output.url'],
    [
      { operation: 'compress', input, output: { url: 'https://example.com/put', headers: { Host: 'x' } } },
      'output.headers.Host',
    ],
    [
      { operation: 'compress', input, output: { url: 'https://example.com/put', headers: { a: 'x\r\ny' } } },
      'output.headers.a',
    ],
    [
      { operation: 'compress', input, output: { url: 'https://example.com/put', headers: { A: '1', a: '2' } } },
      'output.headers',
    ],
    [
      { operation: 'compress', input, output: { url: 'https://example.com/put', headers: { ['a'.repeat(101)]: 'x' } } },
      `output.headers.${'a'.repeat(101)}`,
    ],
    [
      { operation: 'compress', input, output: { url: 'https://example.com/put', headers: { a: 'x'.repeat(2001) } } },
      'output.headers.a',
    ],
    [
      {
        operation: 'compress',
        input,
        output: {
          url: 'https://example.com/put',
          headers: Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`h${n}`, 'v'])),
        },
      },
      'output.headers',
    ],
    [{ operation: 'compress', input, metadata: { a: 'v'.repeat(501) } }, 'metadata.a'],
    [{ operation: 'compress', input, metadata: { a: '😀'.repeat(501) } }, 'metadata.a'],
    [{ operation: 'compress', input, preset: 'nope' }, 'preset'],
    [{ operation: 'compress', input: { url: 'ftp://example.com/a' } }, 'input.url'],
  ])('refuses %j', async (json, param) => {
    expectRefusal(await job(json), 'bad_request', { param });
  });

  // Promise, Jobs: Fields, unknown ones refused with their path
  it.each([
    [{ operation: 'compress', input, options: { image: { quality: 101 } } }, 'image.quality'],
    [{ operation: 'convert', input }, 'convert.to'],
    [{ operation: 'strip_metadata', input, options: { nope: {} } }, 'nope'],
    [{ operation: 'compress', input, options: { convert: { to: 'exe' } } }, 'convert.to'],
  ])('refuses the options of %j', async (json, param) => {
    expectRefusal(await job(json), 'invalid_options', { param });
  });

  // Promise, Bad input, case by case: An upload not complete
  // Promise, States: An upload that is not complete is not found by a job
  it('refuses an upload that is unknown, has no content, or belongs to another account', async () => {
    expectRefusal(await job({ operation: 'compress', input }), 'not_found', { param: 'input.upload' });
    const { id } = (await api('POST', '/v1/uploads', { json: { size: 5 } })).json() as { id: string };
    expectRefusal(await job({ operation: 'compress', input: { upload: id } }), 'not_found');
    const stranger = await makeAccount();
    const mine = await upload(api, CSV, 'a.csv');
    const taken = await api('POST', '/v1/jobs', { key: stranger.live, json: { ...toJson, input: { upload: mine } } });
    expectRefusal(taken, 'not_found');
  });

  // Promise, Bad input, case by case: Test keys and samples
  // Promise, Uploads: A test job takes samples only, up to 25 MB
  it('accepts only published samples with a test key, and no URL', async () => {
    const mine = await upload(api, CSV, 'a.csv');
    const asTest = (json: object) => api('POST', '/v1/jobs', { key: test, json });
    expectRefusal(await asTest({ ...toJson, input: { upload: mine } }), 'test_mode_sample_required');
    expectRefusal(
      await asTest({ ...toJson, input: { url: 'https://example.com/a.csv' } }),
      'test_mode_sample_required',
    );
  });

  // Promise, Direct endpoints: Feature_not_enabled for HEIC output; stripping HEIC does not need it
  it('refuses HEIC output without the feature', async () => {
    const other = await makeAccount('scale');
    await service.mediactl('account', 'set', other.account, '--no-feature', 'heic_output');
    const input = { url: 'https://example.com/a.jpg' };
    const json = { operation: 'convert', input, options: { convert: { to: 'heic' } } };
    expectRefusal(await api('POST', '/v1/jobs', { key: other.live, json }), 'feature_not_enabled', {
      param: 'convert.to',
    });
  });

  // Promise, Bad input, case by case: Unfinished jobs
  // Promise, Jobs: More unfinished jobs than the plan's: 429 with Retry-After 5, also in parallel
  it("refuses more unfinished jobs than the plan's, also in parallel", async () => {
    const other = await makeAccount('payg');
    const otherApi = (json: object) => api('POST', '/v1/jobs', { key: other.live, json });
    const url = { operation: 'compress', input: { url: 'https://example.com/never.jpg' } };
    await service.query('update accounts set features = features where id = $1', [other.account]);
    const answers = await Promise.all(Array.from({ length: 8 }, () => otherApi(url)));
    const accepted = answers.filter(({ status }) => status === 202);
    expect(accepted.length).toBeLessThanOrEqual(3);
    const refused = answers.find(({ status }) => status === 429);
    if (refused === undefined) throw new Error('eight jobs were accepted where three are allowed');
    expectRefusal(refused, 'concurrency_limited');
    expect(refused.headers['retry-after']).toBe('5');
    for (const response of accepted) await api('DELETE', `/v1/jobs/${response.json()['id']}`, { key: other.live });
  });
});

describe('a complete job', () => {
  // Promise, Jobs: Signed link: no key, no allow-list, 403 before existence, 404 without output, ranges
  // Promise, States: One upload serves one job, whatever its result
  // Promise, What the service does: A job takes an upload or a URL; its result is a signed link or a PUT to the caller
  it('is created with 202 and the whole object, runs, and has an output by link and by key', async () => {
    const id = await upload(api, photo, 'holiday photo.JPG');
    const created = await job({
      operation: 'compress',
      input: { upload: id },
      metadata: { order: '7' },
      retention_seconds: 7200,
    });
    expect(created.status).toBe(202);
    const queued = created.json();
    expect(created.headers['location']).toBe(`/v1/jobs/${queued['id']}`);
    expect(queued).toMatchObject({
      object: 'job',
      livemode: true,
      operation: 'compress',
      status: 'queued',
      started_at: null,
      completed_at: null,
      progress: { percent: 0 },
      input: { filename: 'holiday photo.JPG', size: photo.length },
      result: null,
      error: null,
      billed: false,
      expires_at: null,
      files_deleted: false,
      metadata: { order: '7' },
    });
    const done = await finished(api, queued['id']);
    expect(done).toMatchObject({ status: 'succeeded', billed: true, progress: { percent: 100 }, files_deleted: false });
    expect(done['result']).toMatchObject({
      kind: 'image',
      input_format: 'jpg',
      output_format: 'jpg',
      width: 600,
      height: 400,
      kept_original: false,
    });
    expect(done['result'].output_size).toBeLessThan(photo.length);
    expect(Date.parse(done['started_at'])).toBeGreaterThanOrEqual(Date.parse(done['created_at']));
    expect(Date.parse(done['expires_at']) - Date.parse(done['completed_at'])).toBe(7_200_000);

    const byLink = await api('GET', done['result'].download_url, { key: null });
    expect(byLink.status).toBe(200);
    expect(byLink.bytes.length).toBe(done['result'].output_size);
    expect(byLink.headers).toMatchObject({
      'content-type': 'image/jpeg',
      'content-disposition': 'attachment; filename="holiday photo.jpg"',
      'cache-control': 'private, no-store',
      'accept-ranges': 'bytes',
      'x-content-type-options': 'nosniff',
      etag: `"${createHash('sha256').update(byLink.bytes).digest('hex')}"`,
    });
    const byKey = await api('GET', `/v1/jobs/${done['id']}/output`, { headers: { range: 'bytes=0-9' } });
    expect(byKey.status).toBe(206);
    expect(byKey.headers['content-range']).toBe(`bytes 0-9/${byLink.bytes.length}`);
    expect(byKey.bytes).toEqual(byLink.bytes.subarray(0, 10));
    const beyond = await api('GET', `/v1/jobs/${done['id']}/output`, {
      headers: { range: `bytes=${byLink.bytes.length}-` },
    });
    expect(beyond.status).toBe(200);
    expect(beyond.bytes.equals(byLink.bytes)).toBe(true);
    expectRefusal(await api('GET', `/v1/uploads/${id}/content`), 'bad_request', { status: 405 });
    expectRefusal(await job({ operation: 'compress', input: { upload: id } }), 'not_found');
  });

  // Promise, Bad input, case by case: Signed links
  // Promise, Jobs: Signed link: no key, no allow-list, 403 before existence, 404 without output, ranges
  it('refuses altered, repeated and expired links before it reads the job', async () => {
    const done = await runJob(api, csvFile, toJson);
    const url = String(done['result'].download_url);
    const noKey = (address: string) => api('GET', address, { key: null });
    expectRefusal(await noKey(`${url.slice(0, -1)}${url.endsWith('0') ? '1' : '0'}`), 'invalid_signature');
    expectRefusal(await noKey(url.replace(/expires=\d+/, 'expires=9999999999')), 'invalid_signature');
    expectRefusal(await noKey(`${url}&signature=0`), 'invalid_signature');
    expectRefusal(await noKey(url.replace(done['id'], 'job_00000000000000000000')), 'invalid_signature');
    expectRefusal(await noKey(`/v1/jobs/${done['id']}/output`), 'missing_key');
    const old = await api('GET', url, { key: null, headers: { 'svc-version': '2020-01-01' } });
    expectRefusal(old, 'unsupported_version');
  });

  // Promise, Direct endpoints: What cannot be made smaller is returned unchanged and free
  // Promise, States: Failed, kept and test jobs are not billed
  it('returns the original, free of charge, when it cannot be made smaller', async () => {
    const tiny = await sharp({ create: { width: 2, height: 2, channels: 3, background: 'red' } })
      .png({ compressionLevel: 9, palette: true })
      .toBuffer();
    const done = await runJob(api, { bytes: tiny, filename: 'dot.png' }, { operation: 'compress' });
    expect(done).toMatchObject({
      status: 'succeeded',
      billed: false,
      result: { kept_original: true, output_size: tiny.length, savings_percent: 0 },
    });
    expect((await api('GET', done['result'].download_url, { key: null })).bytes).toEqual(tiny);
  });

  // Promise, Conventions and objects: The error of a job has type, code and message only
  it('fails with the documented code', async () => {
    const done = await runJob(
      api,
      { bytes: Buffer.from('nothing of ours'), filename: 'a.bin' },
      { operation: 'compress' },
    );
    expect(done).toMatchObject({
      status: 'failed',
      error: { code: 'unsupported_input', type: 'invalid_request_error' },
      result: null,
      billed: false,
      files_deleted: true,
    });
    expect(done['error']).toEqual({ type: expect.any(String), code: expect.any(String), message: expect.any(String) });
    expectRefusal(await api('GET', `/v1/jobs/${done['id']}/output`), 'not_found');
  });
});

describe('reading and deleting jobs', () => {
  // Promise, Bad input, case by case: Revoked keys
  // Promise, Jobs: A job survives its key and is read by another one of its mode
  // Promise, What the service does: Live and test keys do not see each other's jobs
  it('hides jobs from the other mode and from other accounts', async () => {
    const done = await runJob(api, csvFile, toJson);
    const stranger = await makeAccount();
    for (const key of [test, stranger.live]) {
      expectRefusal(await api('GET', `/v1/jobs/${done['id']}`, { key }), 'not_found');
      expectRefusal(await api('DELETE', `/v1/jobs/${done['id']}`, { key }), 'not_found');
      expectRefusal(await api('GET', `/v1/jobs/${done['id']}/output`, { key }), 'not_found');
    }
    const second = await newKey({ mode: 'live' });
    expect((await api('GET', `/v1/jobs/${done['id']}`, { key: second.key })).status).toBe(200);
  });

  // Promise, Jobs: List: newest first, pages both ways, filters, unknown parameters refused
  it('lists newest first, by pages in both directions', async () => {
    const made: string[] = [];
    for (let n = 0; n < 5; n += 1) made.unshift(String((await runJob(api, csvFile, toJson))['id']));
    const ids = async (query: string) => {
      const body = (await api('GET', `/v1/jobs?${query}`)).json();
      return { ids: body['data'].map(({ id }: { id: string }) => id) as string[], more: body['has_more'] as boolean };
    };
    expect(await ids('limit=2')).toEqual({ ids: made.slice(0, 2), more: true });
    expect((await ids(`limit=2&starting_after=${made[1]}`)).ids).toEqual(made.slice(2, 4));
    expect(await ids(`limit=2&ending_before=${made[4]}`)).toEqual({ ids: made.slice(2, 4), more: true });
    expect(await ids(`limit=2&ending_before=${made[0]}`)).toEqual({ ids: [], more: false });
    expect((await ids('limit=100&status=failed&operation=convert')).ids).toEqual([]);
  });

  // Promise, Jobs: List: newest first, pages both ways, filters, unknown parameters refused
  it.each([
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=x', 'limit'],
    ['limit=0x10', 'limit'],
    ['limit=5.0', 'limit'],
    ['limit=1e1', 'limit'],
    ['limit=+5', 'limit'],
    ['limit=%2B5', 'limit'],
    ['limit=5%20', 'limit'],
    ['limit=%205', 'limit'],
    ['limit=', 'limit'],
    ['status=done', 'status'],
    ['page=2', 'page'],
    ['created_after=yesterday', 'created_after'],
    ['starting_after=job_00000000000000000000', 'starting_after'],
    ['limit=1&limit=2', 'limit'],
  ])('refuses the list query %s', async (query, param) => {
    expectRefusal(await api('GET', `/v1/jobs?${query}`), 'bad_request', { param });
  });

  // Promise, Settled where the interface leaves it open: DELETE of a finished job removes its files only
  // Promise, Bad input, case by case: Deletion, other modes, 30 days
  // Promise, Jobs: Cancel: at once, with its files; repeatable; deletes the files of a finished job
  it('deletes the files of a finished job, and may be repeated', async () => {
    const done = await runJob(api, csvFile, toJson);
    for (const _ of [1, 2]) {
      const response = await api('DELETE', `/v1/jobs/${done['id']}`);
      expect(response.status).toBe(200);
      expect(response.json()).toMatchObject({ status: 'succeeded', billed: true, files_deleted: true });
    }
    expectRefusal(await api('GET', done['result'].download_url, { key: null }), 'not_found');
  });

  // Promise, Jobs: Cancel: at once, with its files; repeatable; deletes the files of a finished job
  it('cancels an unfinished job at once', async () => {
    const id = await upload(api, photo, 'a.jpg');
    const options = { image: { format: 'avif' } };
    const created = (await job({ operation: 'compress', input: { upload: id }, options })).json();
    const canceled = (await api('DELETE', `/v1/jobs/${created['id']}`)).json();
    expect(canceled).toMatchObject({
      status: 'canceled',
      error: { code: 'canceled' },
      result: null,
      files_deleted: true,
      billed: false,
    });
    expect((await api('GET', `/v1/jobs/${created['id']}`)).json()).toEqual(canceled);
  });
});

describe('idempotency', () => {
  // Promise, Bad input, case by case: Idempotency
  // Promise, Jobs: Idempotency: the same response, conflict, in progress, 24 hours, 1 to 255 characters
  it('creates one job for 50 parallel copies of a request', async () => {
    const id = await upload(api, CSV, 'a.csv');
    const body = JSON.stringify({ ...toJson, input: { upload: id } });
    const headers = { 'idempotency-key': `parallel-${id}` };
    const answers = await Promise.all(Array.from({ length: 50 }, () => api('POST', '/v1/jobs', { body, headers })));
    const jobs = new Set(answers.filter(({ status }) => status === 202).map((response) => response.json()['id']));
    expect(jobs.size).toBe(1);
    for (const response of answers.filter(({ status }) => status !== 202))
      expectRefusal(response, 'idempotency_in_progress');
    const rows = await service.query('select count(*)::int as n from jobs where upload_id = $1 and account_id = $2', [
      id,
      account,
    ]);
    expect(rows[0]?.['n']).toBe(1);
    const replay = await api('POST', '/v1/jobs', { body, headers });
    expect(replay.headers['svc-idempotent-replayed']).toBe('true');
    expect(replay.headers['location']).toBe(`/v1/jobs/${[...jobs][0]}`);
    expect(replay.json()['status']).toBe('queued');
    expectRefusal(await api('POST', '/v1/jobs', { body: `${body} `, headers }), 'idempotency_conflict');
  });

  // Promise, Settled where the interface leaves it open: An Idempotency-Key stores the job and refusals of the body itself
  it('returns a refusal of the body again, with the id of the repeated request', async () => {
    const body = JSON.stringify({ ...toJson, input: { upload: 'upl_1', nmae: 'a' } });
    const headers = { 'idempotency-key': 'refused body' };
    const [first, replay] = [
      await api('POST', '/v1/jobs', { body, headers }),
      await api('POST', '/v1/jobs', { body, headers }),
    ];
    for (const response of [first, replay]) expectRefusal(response, 'bad_request', { param: 'input.nmae' });
    expect([first, replay].map((response) => response.headers['svc-idempotent-replayed'])).toEqual([undefined, 'true']);
    const requestIds = [first, replay].map(
      (response) => (response.json()['error'] as { request_id: string }).request_id,
    );
    expect(requestIds).toEqual([first, replay].map((response) => response.headers['svc-request-id']));
    expect(new Set(requestIds).size).toBe(2);
    expectRefusal(await api('POST', '/v1/jobs', { body: `${body} `, headers }), 'idempotency_conflict');
  });

  // Promise, Bad input, case by case: Idempotency
  it('does not keep a refusal', async () => {
    const headers = { 'idempotency-key': 'later' };
    const { id, url } = (await api('POST', '/v1/uploads', { json: { size: CSV.length } })).json() as {
      id: string;
      url: string;
    };
    const body = JSON.stringify({ ...toJson, input: { upload: id } });
    expectRefusal(await api('POST', '/v1/jobs', { body, headers }), 'not_found');
    await api('PUT', `${url}?filename=a.csv`, { body: CSV });
    expect((await api('POST', '/v1/jobs', { body, headers, key: live })).status).toBe(202);
  });

  // Promise, Jobs: Idempotency: the same response, conflict, in progress, 24 hours, 1 to 255 characters
  it.each([[''], ['x'.repeat(256)]])('refuses the key "%s"', async (key) => {
    expectRefusal(await api('POST', '/v1/jobs', { json: {}, headers: { 'idempotency-key': key } }), 'bad_request');
  });
});
