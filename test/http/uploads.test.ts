import { request as httpsRequest } from 'node:https';
import { describe, expect, it } from 'vitest';
import { expectRefusal } from '#test/support/expect-refusal.ts';
import { finished, upload } from '#test/support/run-through.ts';
import { useService } from '#test/support/use-service.ts';

const { service, live, test, api, makeAccount } = await useService('payg');
const PART = 67_108_864;

const create = (json: unknown, key?: string) =>
  api('POST', '/v1/uploads', { json, ...(key === undefined ? {} : { key }) });

describe('creating an upload', () => {
  // Promise, Uploads: Size and name, one PUT up to 95 MB, parts above, none for test keys
  it('returns the address for the content', async () => {
    const response = await create({ size: 10, filename: 'a/b/c photo.jpg' });
    expect(response.status).toBe(201);
    const body = response.json();
    expect(body).toMatchObject({ object: 'upload', size: 10, method: 'PUT', multipart: false });
    expect(body['headers']).toEqual({ authorization: 'Bearer <API_KEY>', 'content-type': 'application/octet-stream' });
    expect(body['url']).toMatch(/\/v1\/uploads\/upl_[0-9a-z]{20}\/content\?filename=c%20photo\.jpg$/);
    expect(Date.parse(body['expires_at']) - Date.now()).toBeGreaterThan(23 * 3600 * 1000);
  });

  // Promise, Bad input, case by case: Uploads
  // Promise, Uploads: Size and name, one PUT up to 95 MB, parts above, none for test keys
  it.each([
    [{ size: 0 }, 'size'],
    [{ size: -1 }, 'size'],
    [{ size: 1.5 }, 'size'],
    [{ size: '5' }, 'size'],
    [{}, 'size'],
    [{ size: 5, name: 'x' }, 'name'],
  ])('refuses %j', async (json, param) => {
    expectRefusal(await create(json), 'bad_request', { param });
  });

  it.each([['[]'], ['"x"'], ['{'], ['{}{}'], ['\ufeff{"size":1}'], ['null'], ['']])(
    'refuses the body %j',
    async (body) => {
      expectRefusal(await api('POST', '/v1/uploads', { body }), 'bad_request');
    },
  );

  it.each([['{"size":5,"filename":"\\u0000.jpg"}'], ['{"size":5,"a\\u0000":1}']])(
    'refuses the character U+0000 in %s',
    async (body) => {
      expectRefusal(await api('POST', '/v1/uploads', { body }), 'bad_request');
    },
  );

  it('accepts a name that is truncated inside a character', async () => {
    const response = await api('POST', '/v1/uploads', { body: '{"size":5,"filename":"x\\ud83d.jpg"}' });
    expect(response.status).toBe(201);
    expect(response.json()['url']).toContain('filename=x%EF%BF%BD.jpg');
  });

  // Promise, Limits and versions: JSON bodies of 64 KB
  it('accepts a body of 65,536 bytes and refuses one byte more', async () => {
    const padded = (length: number) => `{"size":1${' '.repeat(length - 10)}}`;
    expect((await api('POST', '/v1/uploads', { body: padded(65_536) })).status).toBe(201);
    expectRefusal(await api('POST', '/v1/uploads', { body: padded(65_537) }), 'bad_request');
  });

  // Promise, Uploads: Over the plan's job file
  it("refuses a size over the plan's job files", async () => {
    expectRefusal(await create({ size: 524_288_001 }), 'file_too_large', { param: 'size' });
    // More than JavaScript counts exactly.
    expectRefusal(await create({ size: 2 ** 60 }), 'file_too_large', { param: 'size' });
    expectRefusal(await create({ size: Number.MAX_VALUE }), 'file_too_large', { param: 'size' });
  });

  // Promise, Uploads: Size and name, one PUT up to 95 MB, parts above, none for test keys
  it('returns parts above 95 MB, but not to a test key', async () => {
    const body = (await create({ size: 2 * PART + 5 })).json();
    expect(body).toMatchObject({ multipart: true, part_size: PART });
    expect(body['url']).toBeUndefined();
    expect(
      body['parts'].map(({ part_number, size }: { part_number: number; size: number }) => [part_number, size]),
    ).toEqual([
      [1, PART],
      [2, PART],
      [3, 5],
    ]);
    expect((await create({ size: 99_614_720 })).json()['multipart']).toBe(false);
    expectRefusal(await create({ size: 99_614_721 }, test), 'test_mode_sample_required');
  });

  // Promise, Uploads: 24-hour allowance, used or not
  it('counts every upload towards the allowance of 24 hours', async () => {
    const other = await makeAccount();
    for (let sent = 0; sent < 5; sent += 1) expect((await create({ size: 90_000_000 }, other.test)).status).toBe(201);
    expectRefusal(await create({ size: 90_000_000 }, other.test), 'upload_allowance_reached');
    expect((await create({ size: 90_000_000 }, other.live)).status).toBe(201);
  });

  // Promise, Uploads: 24-hour allowance, used or not
  it('counts the further bytes of a larger replacement towards the allowance', async () => {
    const other = await makeAccount();
    for (const size of [99_614_720, 99_614_720, 99_614_720, 99_614_720, 99_614_720, 26_214_399])
      expect((await create({ size }, other.test)).status).toBe(201);
    const { id } = (await create({ size: 1 }, other.test)).json() as { id: string };
    expect((await api('PUT', `/v1/uploads/${id}/content`, { key: other.test, body: 'a' })).status).toBe(200);
    const content = { key: other.test, body: 'a,b\n' };
    expectRefusal(await api('PUT', `/v1/uploads/${id}/content`, content), 'upload_allowance_reached');
  });

  it('keeps the content when the next one is refused for its query', async () => {
    const id = await upload(api, Buffer.from('a,b\n1,2\n'), 'a.csv');
    const doubled = `/v1/uploads/${id}/content?filename=a.csv&filename=b.csv`;
    expectRefusal(await api('PUT', doubled, { body: 'c,d\n3,4\n' }), 'bad_request', { param: 'filename' });
    const job = { operation: 'convert', input: { upload: id }, options: { convert: { to: 'json' } } };
    const { id: jobId } = (await api('POST', '/v1/jobs', { json: job })).json() as { id: string };
    expect(await finished(api, jobId)).toMatchObject({ status: 'succeeded', error: null });
  });
});

describe('sending the content', () => {
  // Promise, States: An upload: sent again it is replaced; parts in any order; missing ones are listed; complete only once
  // Promise, Conventions and objects: Uploaded, part and completed responses
  it('stores it, and replaces it when it is sent again', async () => {
    const id = await upload(api, Buffer.from('first'), 'a.csv');
    const again = await api('PUT', `/v1/uploads/${id}/content`, { body: 'second!' });
    expect(again.json()).toEqual({ id, object: 'upload', size: 7, uploaded: true });
  });

  it('returns the size of the stored content after many concurrent PUTs', async () => {
    for (let round = 0; round < 5; round += 1) {
      const id = await upload(api, Buffer.from('a,b\n'), 'a.csv');
      const contents = Array.from({ length: 12 }, (_, index) => `a,b\n${'1,2\n'.repeat(index)}`);
      const answers = await Promise.all(contents.map((body) => api('PUT', `/v1/uploads/${id}/content`, { body })));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
      const job = { operation: 'convert', input: { upload: id }, options: { convert: { to: 'json' } } };
      const { id: jobId } = (await api('POST', '/v1/jobs', { json: job })).json() as { id: string };
      expect(await finished(api, jobId)).toMatchObject({ status: 'succeeded', error: null });
    }
  });

  // Promise, Bad input, case by case: Uploads
  // Promise, Uploads: Content-Length is required and exact; more than 95 MB in one request is refused with a reference to parts
  it('refuses an empty body, an unknown id and another account', async () => {
    const { id } = (await create({ size: 5 })).json() as { id: string };
    const path = `/v1/uploads/${id}/content`;
    expectRefusal(await api('PUT', path, { headers: { 'content-length': '0' } }), 'bad_request');
    expectRefusal(await api('PUT', '/v1/uploads/upl_00000000000000000000/content', { body: 'x' }), 'not_found');
    expectRefusal(await api('PUT', '/v1/uploads/job_x/content', { body: 'x' }), 'not_found');
    const stranger = await makeAccount();
    expectRefusal(await api('PUT', path, { body: 'x', key: stranger.live }), 'not_found');
  });

  it('refuses more bytes than the upload was created for', async () => {
    const { id } = (await create({ size: 3 })).json() as { id: string };
    const path = `/v1/uploads/${id}/content`;
    const refused = await api('PUT', path, { body: 'a,b\n' });
    expectRefusal(refused, 'bad_request', { param: 'Content-Length' });
    expect(refused.json()['error'].message).toContain('4 bytes; the upload was created for 3');
    expect((await api('PUT', path, { body: 'a,b' })).status).toBe(200);
  });

  // Promise, Uploads: Content-Length is required and exact; more than 95 MB in one request is refused with a reference to parts
  it('refuses a body without Content-Length', async () => {
    const { id } = (await create({ size: 5 })).json() as { id: string };
    const status = await new Promise<number>((resolve, reject) => {
      const request = httpsRequest(
        `${service.baseUrl}/v1/uploads/${id}/content`,
        { method: 'PUT', ca: service.ca, headers: { authorization: `Bearer ${live}`, 'transfer-encoding': 'chunked' } },
        (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        },
      );
      request.on('error', reject);
      request.end('hello');
    });
    expect(status).toBe(400);
  });

  // Promise, Uploads: Content-Length is required and exact; more than 95 MB in one request is refused with a reference to parts
  it('discards a truncated body', async () => {
    const { id } = (await create({ size: 100 })).json() as { id: string };
    await new Promise<void>((resolve) => {
      const request = httpsRequest(`${service.baseUrl}/v1/uploads/${id}/content`, {
        method: 'PUT',
        ca: service.ca,
        headers: { authorization: `Bearer ${live}`, 'content-length': '100' },
      });
      request.on('error', () => resolve());
      request.write('only the beginning', () => request.destroy());
    });
    const job = await api('POST', '/v1/jobs', { json: { operation: 'compress', input: { upload: id } } });
    expectRefusal(job, 'not_found', { param: 'input.upload' });
  });

  // Promise, Uploads: Content-Length is required and exact; more than 95 MB in one request is refused with a reference to parts
  it('refuses over 95 MB in one request before the body', async () => {
    const { id } = (await create({ size: 5 })).json() as { id: string };
    const reply = await new Promise<{ status: number; text: string }>((resolve, reject) => {
      const request = httpsRequest(
        `${service.baseUrl}/v1/uploads/${id}/content`,
        { method: 'PUT', ca: service.ca, headers: { authorization: `Bearer ${live}`, 'content-length': '99614721' } },
        (response) => {
          let text = '';
          response.on('data', (chunk) => (text += String(chunk)));
          response.on('end', () => {
            request.destroy();
            resolve({ status: response.statusCode ?? 0, text });
          });
        },
      );
      request.on('error', reject);
      request.flushHeaders();
    });
    expect(reply.status).toBe(413);
    expect(reply.text).toContain('parts');
  });
});

describe('parts', () => {
  // Promise, Bad input, case by case: Uploads
  // Promise, Uploads: Parts: number, size, replacement, order, completion
  // Promise, States: An upload: sent again it is replaced; parts in any order; missing ones are listed; complete only once
  // Promise, Conventions and objects: Uploaded, part and completed responses
  it('are joined in their order whatever the order of sending', async () => {
    const { id, parts } = (await create({ size: PART + 40_000_000 })).json() as {
      id: string;
      parts: { url: string; size: number }[];
    };
    const path = `/v1/uploads/${id}`;
    expectRefusal(await api('PUT', `${path}/parts/0`, { body: 'x' }), 'bad_request');
    expectRefusal(await api('PUT', `${path}/parts/999`, { body: 'x' }), 'bad_request');
    expectRefusal(await api('PUT', `${path}/parts/2`, { body: 'x' }), 'bad_request');
    expectRefusal(await api('PUT', `${path}/content`, { body: 'x' }), 'not_found');
    const second = await api('PUT', parts[1]?.url ?? '', { body: Buffer.alloc(40_000_000, 2) });
    expect(second.json()).toEqual({ id, object: 'upload_part', part_number: 2, size: 40_000_000 });
    const early = await api('POST', `${path}/complete`);
    expectRefusal(early, 'upload_incomplete');
    expect(early.json()['error'].message).toContain('missing: 1.');
    expectRefusal(
      await api('POST', '/v1/jobs', { json: { operation: 'compress', input: { upload: id } } }),
      'not_found',
    );
    await api('PUT', parts[0]?.url ?? '', { body: Buffer.alloc(PART, 1) });
    expect((await api('POST', `${path}/complete`)).json()).toEqual({
      id,
      object: 'upload',
      size: PART + 40_000_000,
      uploaded: true,
    });
    expectRefusal(await api('POST', `${path}/complete`), 'upload_already_completed');
    expectRefusal(await api('PUT', `${path}/parts/2`, { body: 'x' }), 'upload_already_completed');
  });
});
