/** Direct requests with a file of every kind, and the refusals of each kind. The files are the published samples. */
import { readFile } from 'node:fs/promises';
import sharp from 'sharp';
import { FormData } from 'undici';
import { describe, expect, it } from 'vitest';
import type { ApiResponse } from '#test/support/api-client.ts';
import { expectRefusal } from '#test/support/expect-refusal.ts';
import { useService } from '#test/support/use-service.ts';

const { service, test, api, makeAccount } = await useService('scale');

const sample = (name: string) => readFile(new URL(`../../api/data/samples/${name}`, import.meta.url));
const ask = async (path: string, name: string, key?: string) =>
  api('POST', `/v1/${path}`, { body: await sample(name), ...(key === undefined ? {} : { key }) });
const resultOf = (response: ApiResponse) => JSON.parse(String(response.headers['svc-result'])) as Record<string, any>;
const meterOf = async (response: ApiResponse) =>
  (
    await service.query('select meter, quantity, amount_micro_usd as amount from ledger where source_id = $1', [
      response.headers['svc-request-id'],
    ])
  )[0];

describe('compress', () => {
  // Promise, Conventions and objects: Result object, in the header on one line of printable ASCII
  // Promise, What the service does: Images, PDFs, audio, tables and fonts are compressed, converted or stripped in one request
  it.each([
    [
      'report.pdf',
      'compress',
      'application/pdf',
      { kind: 'pdf', input_format: 'pdf', output_format: 'pdf', width: null, duration_seconds: null },
    ],
    [
      'talk.mp3',
      'compress',
      'audio/aac',
      { kind: 'audio', input_format: 'mp3', output_format: 'aac', pages: null, video_codec: null },
    ],
    [
      'talk.mp3',
      'compress?audio.format=opus&audio.quality=tiny',
      'audio/ogg',
      { kind: 'audio', output_format: 'opus' },
    ],
    ['graphic.png', 'compress?image.format=webp', 'image/webp', { kind: 'image', pages: null, duration_seconds: null }],
  ])('%s by %s is %s', async (name, path, type, result) => {
    const response = await ask(path, name);
    expect(response.status).toBe(200);
    expect(response.headers['content-type']).toMatch(new RegExp(`^${type}`));
    expect(resultOf(response)).toMatchObject({ ...result, increased: false, download_url: null });
    expect(String(response.headers['svc-result'])).toMatch(/^[\x20-\x7e]+$/);
  });

  // Promise, Bad input, case by case: Files of another kind
  // Promise, Direct endpoints: Unsupported_input, use_async_job, encrypted_pdf, processing_failed, limit_exceeded with value and limit
  it.each([
    ['typeface.ttf', 'compress'],
    ['people.csv', 'compress?filename=people.csv'],
    ['unknown.bin', 'compress'],
    ['talk.mp3', 'strip-metadata'],
    ['typeface.ttf', 'strip-metadata'],
  ])('%s is unsupported by %s', async (name, path) => {
    expectRefusal(await ask(path, name), 'unsupported_input');
  });

  // Promise, Direct endpoints: Unsupported_input, use_async_job, encrypted_pdf, processing_failed, limit_exceeded with value and limit
  // Promise, Bad input, case by case: Damaged files
  // Promise, Bad input, case by case: Passwords
  it.each([
    ['encrypted.pdf', 'encrypted_pdf'],
    ['corrupt.jpg', 'processing_failed'],
    ['no-audio.m4a', 'processing_failed'],
  ] as const)('%s is refused with %s and is not billed', async (name, code) => {
    const response = await ask('compress', name);
    expectRefusal(response, code);
    expect(await meterOf(response)).toEqual({ meter: 'unbilled', quantity: 0, amount: 0 });
  });

  // Promise, Direct endpoints: Unsupported_input, use_async_job, encrypted_pdf, processing_failed, limit_exceeded with value and limit
  // Promise, Bad input, case by case: Pixels, frames, pages, durations
  // Promise, Limits and versions: Length, pixels, pages and frames of the plan
  it.each([
    ['too-many-pixels.png', /100010000 .*100000000/],
    ['too-many-frames.gif', /2001 .*2000/],
    ['too-many-pages.pdf', /2001 .*2000/],
    ['too-long.flac', /10801 .*10800/],
  ])('%s is over the limit of the largest plan, and the message has value and limit', async (name, figures) => {
    const response = await ask('compress', name);
    expectRefusal(response, 'limit_exceeded');
    expect(response.json()['error'].message).toMatch(figures);
  });

  it.each(['compress', 'strip-metadata'])('%s checks a target that it ignores', async (path) => {
    expectRefusal(await ask(`${path}?convert.to=exe`, 'graphic.png'), 'invalid_options', { param: 'convert.to' });
    expect((await ask(`${path}?convert.to=jpg`, 'graphic.png')).headers['content-type']).toBe('image/png');
  });

  // Promise, Bad input, case by case: Sample rates
  it('accepts a sample rate at the end of its range, and refuses it where the default format lacks it', async () => {
    const path = 'compress?audio.sample_rate_hz=192000';
    expect((await ask(path, 'graphic.png')).status).toBe(200);
    expect((await ask(`${path}&audio.format=flac`, 'talk.mp3')).status).toBe(200);
    expectRefusal(await ask(path, 'talk.mp3'), 'invalid_options', { param: 'audio.sample_rate_hz' });
  });

  // Promise, Bad input, case by case: Files of another kind
  // Promise, Direct endpoints: Unsupported_input, use_async_job, encrypted_pdf, processing_failed, limit_exceeded with value and limit
  // Promise, What the service does: Video and office documents run as jobs only
  it.each(['clip.mp4', 'letter.docx', 'budget.xlsx', 'slides.pptx'])('%s needs a job', async (name) => {
    expectRefusal(await ask('compress', name), 'use_async_job');
    expectRefusal(await ask('convert?to=pdf', name), 'use_async_job');
  });

  // Promise, Bad input, case by case: Files of another kind
  it('identifies a file by its content, not by its name', async () => {
    expectRefusal(await ask('compress?filename=photo.jpg', 'letter.docx'), 'use_async_job');
    const response = await ask('compress?filename=photo.pdf', 'graphic.png');
    expect(resultOf(response)).toMatchObject({ input_format: 'png', warnings: [expect.any(String)] });
    expect(response.headers['content-disposition']).toBe('attachment; filename="photo.png"');
  });
});

describe('convert', () => {
  // Promise, Direct endpoints: Convert: target, its spellings and case, page, dpi; larger results are returned
  // Promise, What the service does: Images, PDFs, audio, tables and fonts are compressed, converted or stripped in one request
  it.each([
    ['report.pdf', 'to=png', 'image/png', 'file.png'],
    ['report.pdf', 'to=jpg&page=2&dpi=36&filename=Report.PDF', 'image/jpeg', 'Report.jpg'],
    ['talk.mp3', 'to=flac', 'audio/flac', 'file.flac'],
    ['typeface.ttf', 'to=WOFF2', 'font/woff2', 'file.woff2'],
    ['people.csv', 'to=markdown&filename=a/people.csv', 'text/markdown', 'people.md'],
    ['people.csv', 'to=htm&filename=people.csv', 'text/html', 'people.html'],
    ['people.csv', 'to=jsonl&filename=people.csv', 'application/x-ndjson', 'people.ndjson'],
  ])('%s with %s is %s', async (name, query, type, filename) => {
    const response = await ask(`convert?${query}`, name);
    expect(response.status).toBe(200);
    expect(response.headers['content-type']).toMatch(new RegExp(`^${type}`));
    expect(response.headers).toMatchObject({
      'content-disposition': `attachment; filename="${filename}"`,
      'svc-kept-original': 'false',
      'content-length': String(response.bytes.length),
    });
  });

  // Promise, Bad input, case by case: Targets, pages, dpi
  // Promise, Direct endpoints: Unsupported_target lists the targets
  // Promise, Direct endpoints: Convert: target, its spellings and case, page, dpi; larger results are returned
  it.each([
    ['report.pdf', 'to=png&page=999', 'invalid_options', 'convert.page'],
    ['report.pdf', 'to=png&page=0', 'invalid_options', 'convert.page'],
    ['report.pdf', 'to=png&dpi=35', 'invalid_options', 'convert.dpi'],
    ['report.pdf', 'to=png&dpi=601', 'invalid_options', 'convert.dpi'],
    ['report.pdf', 'to=png&convert.to=jpg', 'invalid_options', 'convert.to'],
    ['report.pdf', 'to=gif', 'unsupported_target', 'convert.to'],
    ['typeface.ttf', 'to=pdf', 'unsupported_target', 'convert.to'],
    ['people.csv', 'to=pdf&filename=people.csv', 'unsupported_target', 'convert.to'],
    ['talk.mp3', 'to=opus', 'unsupported_target', 'convert.to'],
    ['graphic.png', 'to=nonsense', 'unsupported_target', 'convert.to'],
  ] as const)('%s with %s is refused with %s', async (name, query, code, param) => {
    const response = await ask(`convert?${query}`, name);
    expectRefusal(response, code, { param });
    if (code === 'unsupported_target') expect(response.json()['error'].message).toMatch(/png|woff|xlsx|flac/);
  });

  // Promise, Direct endpoints: Convert: target, its spellings and case, page, dpi; larger results are returned
  it('may return a larger file, with a warning', async () => {
    const response = await api('POST', '/v1/convert?to=bmp', { body: await sample('graphic.png') });
    expect(resultOf(response)).toMatchObject({ increased: true, kept_original: false });
    expect(Number(response.headers['svc-savings-percent'])).toBeLessThan(0);
    expect(response.headers['svc-billed']).toBe('true');
  });

  // Promise, Direct endpoints: Frames are kept where the target has them, else one with a warning
  it('keeps one frame of an animation with a warning, or all frames in targets that have them', async () => {
    const frame = (background: string) =>
      sharp({ create: { width: 40, height: 30, channels: 3, background } })
        .png()
        .toBuffer();
    const animated = await sharp(await Promise.all(['red', 'blue'].map(frame)), { join: { animated: true } })
      .gif()
      .toBuffer();
    const still = await api('POST', '/v1/convert?to=jpg', { body: animated });
    expect(resultOf(still)['warnings']).toEqual([expect.any(String)]);
    const moving = await api('POST', '/v1/convert?to=webp', { body: animated });
    expect(resultOf(moving)['warnings']).toEqual([]);
    expect((await sharp(moving.bytes).metadata()).pages).toBe(2);
  });
});

describe('strip-metadata', () => {
  // Promise, Bad input, case by case: Kept, stripped
  // Promise, Direct endpoints: BMP is returned with a warning; a PDF is billed as one image
  it('returns a BMP unchanged, with a warning', async () => {
    const bmp = (await ask('convert?to=bmp', 'graphic.png')).bytes;
    const response = await api('POST', '/v1/strip-metadata?filename=a.bmp', { body: bmp });
    expect(response.bytes.equals(bmp)).toBe(true);
    expect(resultOf(response)).toMatchObject({ kept_original: false, warnings: [expect.any(String)] });
  });

  // Promise, Direct endpoints: BMP is returned with a warning; a PDF is billed as one image
  it('of a PDF is billed as one image, whatever its pages', async () => {
    const response = await ask('strip-metadata', 'report.pdf');
    expect(response.headers).toMatchObject({
      'content-type': 'application/pdf',
      'svc-billed': 'true',
      'svc-output-format': 'pdf',
    });
    expect(await meterOf(response)).toEqual({ meter: 'images', quantity: 1, amount: 2000 });
  });
});

describe('HEIC without the feature', () => {
  // Promise, Bad input, case by case: HEIC without the feature
  // Promise, Direct endpoints: Feature_not_enabled for HEIC output; stripping HEIC does not need it
  it('is refused as output of every operation; removal of metadata is possible', async () => {
    const other = await makeAccount('scale');
    await service.mediactl('account', 'set', other.account, '--no-feature', 'heic_output');
    expectRefusal(await ask('compress?image.format=heic', 'graphic.png', other.live), 'feature_not_enabled');
    expectRefusal(await ask('convert?to=heif', 'graphic.png', other.live), 'feature_not_enabled');
    expectRefusal(await ask('compress', 'photo.heic', other.live), 'feature_not_enabled');
    expect((await ask('compress?image.format=jpg', 'photo.heic', other.live)).status).toBe(200);
    expect((await ask('strip-metadata', 'photo.heic', other.live)).status).toBe(200);
  });
});

describe('a test key', () => {
  // Promise, Limits and versions: Test keys: samples only, never billed, 10 MB direct
  it('processes a sample under any name, in both forms, and is never billed', async () => {
    const bytes = await sample('graphic.png');
    const raw = await api('POST', '/v1/compress?filename=other.jpg', { key: test, body: bytes });
    expect(raw.headers['svc-billed']).toBe('false');
    expect(await meterOf(raw)).toEqual({ meter: 'unbilled', quantity: 0, amount: 0 });
    const body = new FormData();
    body.append('file', new Blob([bytes]), 'x');
    expect((await api('POST', '/v1/convert?to=jpg', { key: test, body })).status).toBe(200);
  });

  // Promise, Bad input, case by case: Test keys and samples
  // Promise, Limits and versions: Test keys: samples only, never billed, 10 MB direct
  it('does not process a sample with one more byte', async () => {
    const body = Buffer.concat([await sample('graphic.png'), Buffer.from([0])]);
    expectRefusal(await api('POST', '/v1/compress', { key: test, body }), 'test_mode_sample_required');
  });
});
