import { readFile } from 'node:fs/promises';
import sharp from 'sharp';
import { FormData } from 'undici';
import { describe, expect, it } from 'vitest';
import { noise } from '#test/fixtures/noise.ts';
import type { ApiResponse } from '#test/support/api-client.ts';
import { expectRefusal } from '#test/support/expect-refusal.ts';
import { finished, upload } from '#test/support/run-through.ts';
import { useService } from '#test/support/use-service.ts';
import { withKey } from '#test/support/with-key.ts';

const { service, test, api, makeAccount } = await useService('enterprise');

const picture = await noise(300, 200).jpeg({ quality: 97 }).toBuffer();
const CSV = Buffer.from('id,name\n0010,Ada\n');
const sample = await readFile(new URL('../../api/data/samples/people.csv', import.meta.url));

const create = (json: unknown, key?: string) =>
  api('POST', '/v1/presets', { json, ...(key === undefined ? {} : { key }) });
const get = (idOrName: string, key?: string) => api('GET', `/v1/presets/${idOrName}`, key === undefined ? {} : { key });
const formatOf = (response: ApiResponse): unknown => response.headers['svc-output-format'];
const quality = (value: number) => ({ image: { quality: value } });

let made = 0;
/** Creates a preset of the file's account under a unique name. */
async function preset(options: object): Promise<{ id: string; name: string }> {
  made += 1;
  const response = await create({ name: `made-${made}`, options });
  expect(response.status).toBe(201);
  return response.json() as { id: string; name: string };
}

describe('creating a preset', () => {
  // Promise, Presets, estimate, usage: 201, or 200 with the same id for an existing name; 100 at most, also in parallel
  // Promise, Conventions and objects: Preset object, its options as sent, its name's form
  it('returns 201 with the options exactly as sent', async () => {
    const options = {
      pdf: { quality: 'tiny' },
      image: { resize: { width: 20_000, mode: 'width' }, format: 'webp' },
      audio: {},
    };
    const response = await create({ name: 'a-first_one', options });
    expect(response.status).toBe(201);
    const body = response.json();
    expect(Object.keys(body)).toEqual(['id', 'object', 'name', 'options', 'created_at', 'updated_at']);
    expect(body).toMatchObject({
      id: expect.stringMatching(/^pre_[0-9a-z]{20}$/),
      object: 'preset',
      name: 'a-first_one',
    });
    expect(JSON.stringify(body['options'])).toBe(JSON.stringify(options));
    expect(body['created_at']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(body['updated_at']).toBe(body['created_at']);
    expect(response.headers['location']).toBe(`/v1/presets/${body['id']}`);
  });

  // Promise, Presets, estimate, usage: 201, or 200 with the same id for an existing name; 100 at most, also in parallel
  it('replaces the options of an existing name: 200, same id, new updated_at', async () => {
    const { id, name } = await preset(quality(10));
    await service.query(`update presets set created_at = '2026-01-01Z', updated_at = '2026-01-01Z' where id = $1`, [
      id,
    ]);
    const response = await create({ name, options: { pdf: { quality: 'small' } } });
    expect(response.status).toBe(200);
    const after = response.json();
    expect(after).toMatchObject({
      id,
      name,
      options: { pdf: { quality: 'small' } },
      created_at: '2026-01-01T00:00:00.000Z',
    });
    expect(after['updated_at']).not.toBe(after['created_at']);
    expect((await get(id)).json()).toEqual(after);
  });

  // Promise, Conventions and objects: Preset object, its options as sent, its name's form
  it.each([
    [{ name: 'x', options: quality(1), colour: 1 }, 'colour'],
    [{ name: '', options: quality(1) }, 'name'],
    [{ name: 'Upper', options: quality(1) }, 'name'],
    [{ name: '-x', options: quality(1) }, 'name'],
    [{ name: '_x', options: quality(1) }, 'name'],
    [{ name: 'a b', options: quality(1) }, 'name'],
    [{ name: 'x\n', options: quality(1) }, 'name'],
    [{ name: 'é', options: quality(1) }, 'name'],
    [{ name: 'x'.repeat(64), options: quality(1) }, 'name'],
    [{ name: 5, options: quality(1) }, 'name'],
    [{ options: quality(1) }, 'name'],
    [{ name: 'x' }, 'options'],
    [{ name: 'x', options: null }, 'options'],
    [{ name: 'x', options: [] }, 'options'],
  ])('refuses %j', async (json, param) => {
    expectRefusal(await create(json), 'bad_request', { param });
  });

  // Promise, Presets, estimate, usage: Options by the rules of jobs, at least one
  it.each([
    [{}, 'options'],
    [{ image: {} }, 'options'],
    [{ image: { resize: {} } }, 'options'],
    [{ image: {}, pdf: {}, video: {}, audio: {}, convert: {} }, 'options'],
    [{ picture: {} }, 'picture'],
    [{ image: { quality: 101 } }, 'image.quality'],
    [{ image: { quality: null } }, 'image.quality'],
    [{ image: { size: 1 } }, 'image.size'],
    [{ video: { format: 'webm', codec: 'h264' } }, 'video.codec'],
    [{ convert: { to: 'exe' } }, 'convert.to'],
    [JSON.parse('{"__proto__": {"a": 1}, "image": {"quality": 1}}'), '__proto__'],
  ])('refuses the options %j', async (options, param) => {
    expectRefusal(
      await api('POST', '/v1/presets', { body: `{"name":"x","options":${JSON.stringify(options)}}` }),
      'invalid_options',
      { param },
    );
  });

  // Promise, Conventions and objects: Preset object, its options as sent, its name's form
  it.each([['a'], ['0'], ['0-_'], ['x'.repeat(63)]])('accepts the name %s', async (name) => {
    expect((await create({ name, options: quality(1) })).status).toBe(201);
  });

  it('creates one preset for concurrent requests under one name', async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) => create({ name: 'at-once', options: quality(n) })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(9);
    expect(new Set(answers.map((response) => response.json()['id'])).size).toBe(1);
  });
});

describe('the limit of 100', () => {
  // Promise, Bad input, case by case: Limits in parallel
  // Promise, Presets, estimate, usage: 201, or 200 with the same id for an existing name; 100 at most, also in parallel
  it('applies to parallel requests, and existing names can still be replaced', async () => {
    const other = await makeAccount('enterprise');
    const named = (n: number) => create({ name: `n${n}`, options: quality(1) }, other.live);
    const first = await Promise.all(Array.from({ length: 99 }, (_, n) => named(n)));
    expect(new Set(first.map(({ status }) => status))).toEqual(new Set([201]));
    const last = await Promise.all(Array.from({ length: 20 }, (_, n) => named(100 + n)));
    expect(last.filter(({ status }) => status === 201)).toHaveLength(1);
    const refused = last.filter(({ status }) => status !== 201);
    for (const response of refused) expectRefusal(response, 'preset_limit_reached', { status: 409 });
    expect((await named(5)).status).toBe(200);
    const list = (await api('GET', '/v1/presets', { key: other.live })).json();
    expect(list['data']).toHaveLength(100);
    expect((await api('DELETE', '/v1/presets/n5', { key: other.live })).status).toBe(200);
    expect((await named(500)).status).toBe(201);
  });
});

describe('presets of an account', () => {
  // Promise, Presets, estimate, usage: Read and deleted by id or name; a deleted one is refused, jobs keep their options
  // Promise, Conventions and objects: Lists have `object`, `data`, `has_more`
  it('are listed by name, read and deleted by id or name, with live and test keys', async () => {
    const own = await makeAccount();
    for (const name of ['b', 'a_', 'a-', 'a', '9']) await create({ name, options: quality(3) }, own.live);
    const list = (await api('GET', '/v1/presets', { key: own.test })).json();
    expect(list).toMatchObject({ object: 'list', has_more: false });
    expect(list['data'].map(({ name }: { name: string }) => name)).toEqual(['9', 'a', 'a-', 'a_', 'b']);
    const [, a, , , b] = list['data'] as { id: string }[];
    expect((await get('a', own.test)).json()).toEqual(a);
    expect((await get(String(b?.id), own.live)).json()).toEqual(b);
    const byName = await api('DELETE', '/v1/presets/a', { key: own.live });
    expect([byName.status, byName.json()]).toEqual([200, { id: a?.id, object: 'preset', deleted: true }]);
    const byId = await api('DELETE', `/v1/presets/${b?.id}`, { key: own.test });
    expect(byId.json()).toEqual({ id: b?.id, object: 'preset', deleted: true });
    for (const deleted of ['a', 'b', String(b?.id)]) {
      expectRefusal(await get(deleted, own.live), 'not_found');
      expectRefusal(await api('DELETE', `/v1/presets/${deleted}`, { key: own.live }), 'not_found');
    }
  });

  it('are unknown to another account', async () => {
    const mine = await preset(quality(5));
    const stranger = await makeAccount();
    expectRefusal(await get(mine.id, stranger.live), 'not_found');
    expectRefusal(await api('DELETE', `/v1/presets/${mine.name}`, { key: stranger.live }), 'not_found');
    expectRefusal(
      await api('POST', `/v1/compress?preset=${mine.id}`, { key: stranger.live, body: picture }),
      'bad_request',
      { param: 'preset' },
    );
    expect((await create({ name: mine.name, options: quality(6) }, stranger.live)).status).toBe(201);
    expect((await get(mine.name)).json()['options']).toEqual(quality(5));
  });

  it.each(['nope', 'pre_00000000000000000000', '%01', '%F0%9F%98%80', "'"])('%s is not found', async (name) => {
    expectRefusal(await get(name), 'not_found');
    expectRefusal(await api('DELETE', `/v1/presets/${name}`), 'not_found');
  });

  it('require a key and support no other method', async () => {
    expectRefusal(await api('GET', '/v1/presets', { key: null }), 'missing_key');
    expectRefusal(await api('PUT', '/v1/presets/a'), 'bad_request', { status: 405 });
  });
});

describe('a direct request', () => {
  // Promise, Presets, estimate, usage: Validated at each use; the section of the kind applies; may contain the target
  it('uses the section of its kind, by name or id', async () => {
    const { id, name } = await preset({
      image: { format: 'webp', resize: { width: 150, mode: 'width' } },
      audio: { format: 'mp3' },
      convert: { to: 'json' },
    });
    for (const named of [id, name]) {
      const response = await api('POST', `/v1/compress?preset=${named}`, { body: picture });
      expect(formatOf(response)).toBe('webp');
      expect(await sharp(response.bytes).metadata()).toMatchObject({ width: 150, height: 100 });
    }
    const table = await api('POST', `/v1/convert?preset=${name}&filename=a.csv`, { body: CSV });
    expect(formatOf(table)).toBe('json');
  });

  // Promise, Direct endpoints: Preset, then JSON, then query
  it('merges the preset, the JSON options and the query, the later overriding the earlier, field by field', async () => {
    const { name } = await preset({ image: { format: 'webp', resize: { width: 100, height: 100, mode: 'fill' } } });
    const send = (query: string, options: object) => {
      const form = new FormData();
      form.append('options', JSON.stringify(options));
      form.append('file', new Blob([picture]), 'a.jpg');
      return api('POST', `/v1/compress?preset=${name}${query}`, { body: form });
    };
    const sizeOf = async (response: ApiResponse) => {
      const { format, width, height } = await sharp(response.bytes).metadata();
      return [format, width, height];
    };
    expect(await sizeOf(await send('', {}))).toEqual(['webp', 100, 100]);
    expect(await sizeOf(await send('', { image: { format: 'png', resize: { width: 120 } } }))).toEqual([
      'png',
      120,
      100,
    ]);
    expect(
      await sizeOf(await send('&image.resize.width=140', { image: { format: 'png', resize: { width: 120 } } })),
    ).toEqual(['png', 140, 100]);
    expect(await sizeOf(await send('&image.format=jpg', { image: { format: 'png', resize: false } }))).toEqual([
      'jpeg',
      300,
      200,
    ]);
  });

  it('validates a pair of options after all sources are merged', async () => {
    const { name } = await preset({ audio: { sample_rate_hz: 96_000 } });
    const form = (options: object): FormData => {
      const data = new FormData();
      data.append('file', new Blob([picture]), 'a.jpg');
      data.append('options', JSON.stringify(options));
      return data;
    };
    const query = `/v1/compress?preset=${name}&audio.format=opus`;
    expect((await api('POST', query, { body: form({}) })).json()['error']).toMatchObject({
      code: 'invalid_options',
      param: 'audio.sample_rate_hz',
    });
    expect((await api('POST', query, { body: form({ audio: { sample_rate_hz: 48_000 } }) })).status).toBe(200);
    expectRefusal(await api('POST', query, { body: picture }), 'invalid_options', { param: 'audio.sample_rate_hz' });
  });

  // Promise, Presets, estimate, usage: Validated at each use; the section of the kind applies; may contain the target
  it('takes the target of convert from the preset', async () => {
    const { name } = await preset({ convert: { to: 'NDJSON' } });
    expect(formatOf(await api('POST', `/v1/convert?preset=${name}&filename=a.csv`, { body: CSV }))).toBe('ndjson');
    expect(formatOf(await api('POST', `/v1/convert?preset=${name}&to=tsv&filename=a.csv`, { body: CSV }))).toBe('tsv');
    const other = await preset(quality(5));
    expectRefusal(
      await api('POST', `/v1/convert?preset=${other.name}&filename=a.csv`, { body: CSV }),
      'invalid_options',
      { param: 'convert.to' },
    );
  });

  it('strip-metadata checks it and ignores it', async () => {
    const { name } = await preset({ image: { format: 'webp' } });
    expect(formatOf(await api('POST', `/v1/strip-metadata?preset=${name}`, { body: picture }))).toBe('jpg');
    expectRefusal(await api('POST', '/v1/strip-metadata?preset=nope', { body: picture }), 'bad_request', {
      param: 'preset',
    });
  });

  // Promise, Bad input, case by case: Unknown preset
  it.each(['nope', '', 'pre_00000000000000000000', '%01'])('is refused when there is no preset `%s`', async (name) => {
    expectRefusal(await api('POST', `/v1/compress?preset=${name}`, { body: picture }), 'bad_request', {
      param: 'preset',
    });
  });

  // Promise, Presets, estimate, usage: Validated at each use; the section of the kind applies; may contain the target
  it('is refused when the options no longer meet the rules', async () => {
    const { id, name } = await preset(quality(5));
    await service.query(`update presets set options = '{"image": {"quality": 500}}' where id = $1`, [id]);
    expectRefusal(await api('POST', `/v1/compress?preset=${name}`, { body: picture }), 'invalid_options', {
      param: 'image.quality',
    });
  });

  // Promise, Presets, estimate, usage: Read and deleted by id or name; a deleted one is refused, jobs keep their options
  it('is refused after the preset was deleted', async () => {
    const { id, name } = await preset(quality(5));
    await api('DELETE', `/v1/presets/${id}`);
    expectRefusal(await api('POST', `/v1/compress?preset=${name}`, { body: picture }), 'bad_request', {
      param: 'preset',
    });
  });
});

describe('a job', () => {
  const jobOf = async (json: object, file = { bytes: picture, name: 'a.jpg' }, key?: string) => {
    const as = key === undefined ? api : withKey(api, key);
    const input = { upload: await upload(as, file.bytes, file.name) };
    const created = await as('POST', '/v1/jobs', { json: { input, ...json } });
    return { created, done: () => finished(as, String(created.json()['id'])) };
  };

  it('overrides the options of the preset, by name or id, with its own', async () => {
    const { id, name } = await preset({ image: { format: 'webp', resize: { width: 150, mode: 'width' } } });
    const own = await jobOf({ operation: 'compress', preset: id, options: { image: { format: 'png' } } });
    expect((await own.done())['result']).toMatchObject({ output_format: 'png', width: 150 });
    const plain = await jobOf({ operation: 'compress', preset: name, options: null });
    expect((await plain.done())['result']).toMatchObject({ output_format: 'webp', width: 150 });
  });

  it('takes its target from the preset, with a test key too', async () => {
    const { name } = await preset({ convert: { to: 'json' } });
    const job = await jobOf({ operation: 'convert', preset: name }, { bytes: sample, name: 'people.csv' }, test);
    expect(await job.done()).toMatchObject({ livemode: false, status: 'succeeded', result: { output_format: 'json' } });
  });

  // Promise, Presets, estimate, usage: Read and deleted by id or name; a deleted one is refused, jobs keep their options
  it('keeps its options when the preset is deleted', async () => {
    const { id } = await preset({ image: { format: 'webp' } });
    const job = await jobOf({ operation: 'compress', preset: id });
    await api('DELETE', `/v1/presets/${id}`);
    expect((await job.done())['result']).toMatchObject({ output_format: 'webp' });
  });

  it('strip_metadata checks it and ignores it', async () => {
    const { id, name } = await preset({ image: { format: 'webp' } });
    const job = await jobOf({ operation: 'strip_metadata', preset: name });
    expect((await job.done())['result']).toMatchObject({ output_format: 'jpg' });
    await api('DELETE', `/v1/presets/${id}`);
    expectRefusal((await jobOf({ operation: 'strip_metadata', preset: name })).created, 'bad_request', {
      param: 'preset',
    });
  });

  it('is refused when the account has no such preset, before its options are checked', async () => {
    const json = {
      operation: 'compress',
      input: { upload: 'upl_00000000000000000000' },
      preset: 'nope',
      options: { image: { quality: 500 } },
    };
    expectRefusal(await api('POST', '/v1/jobs', { json }), 'bad_request', { param: 'preset' });
  });
});
