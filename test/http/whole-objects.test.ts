/** Objects of the interface with all their fields: a field that does not apply is null, none is omitted. */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { request as httpsRequest } from 'node:https';
import path from 'node:path';
import { Readable } from 'node:stream';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { noise } from '#test/fixtures/noise.ts';
import { runJob, upload } from '#test/support/run-through.ts';
import { useService } from '#test/support/use-service.ts';

const { service, account, live, api } = await useService('scale');

const ID = (prefix: string) => expect.stringMatching(new RegExp(`^${prefix}_[0-9a-z]{20}$`)) as string;
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;
const LIMIT = 26_214_400;
const photo = await noise(90, 60).jpeg({ quality: 95 }).toBuffer();

describe('a job', () => {
  const unfinished = {
    id: ID('job'),
    object: 'job',
    livemode: true,
    operation: 'compress',
    status: 'queued',
    created_at: TIME,
    started_at: null,
    completed_at: null,
    progress: { percent: 0 },
    input: { filename: 'a.jpg', size: photo.length },
    result: null,
    error: null,
    billed: false,
    expires_at: null,
    files_deleted: false,
    metadata: {},
  };

  // Promise, Conventions and objects: Job object; metadata of 20 entries, 40 and 500 characters
  // Promise, Conventions and objects: A field that does not apply is null; times in UTC with milliseconds; ids of 20 letters and digits
  it('has every field from its creation on', async () => {
    const input = { upload: await upload(api, photo, 'a.jpg') };
    const created = await api('POST', '/v1/jobs', { json: { operation: 'compress', input } });
    expect(created.status).toBe(202);
    expect(created.json()).toEqual(unfinished);
  });

  // Promise, Conventions and objects: Result object, in the header on one line of printable ASCII
  // Promise, Conventions and objects: Lists have `object`, `data`, `has_more`
  // Promise, Conventions and objects: A field that does not apply is null; times in UTC with milliseconds; ids of 20 letters and digits
  it('and its result have every field when it has succeeded', async () => {
    const done = await runJob(api, { bytes: photo, filename: 'a.jpg' }, { operation: 'compress' });
    expect(done).toEqual({
      ...unfinished,
      status: 'succeeded',
      started_at: TIME,
      completed_at: TIME,
      expires_at: TIME,
      progress: { percent: 100 },
      billed: true,
      result: {
        kind: 'image',
        input_format: 'jpg',
        output_format: 'jpg',
        original_size: photo.length,
        output_size: expect.any(Number),
        savings_percent: expect.any(Number),
        kept_original: false,
        increased: false,
        width: 90,
        height: 60,
        pages: null,
        duration_seconds: null,
        video_codec: null,
        warnings: [],
        download_url: expect.stringMatching(/\?expires=\d+&signature=/),
        download_expires_at: TIME,
      },
    });
    const { result } = done;
    const savings = Math.round(1000 * (1 - result.output_size / result.original_size)) / 10;
    expect(result.savings_percent).toBeCloseTo(savings, 1);
    expect(result.download_expires_at).toBe(done['expires_at']);
    expect(Date.parse(done['expires_at']) - Date.parse(done['completed_at'])).toBe(3_600_000);
    expect((await api('GET', '/v1/jobs?limit=1')).json()).toEqual({ object: 'list', data: [done], has_more: true });
  });
});

describe('other objects', () => {
  // Promise, Conventions and objects: Upload object, in one piece and in parts
  it('an upload in one piece and in parts', async () => {
    const one = (await api('POST', '/v1/uploads', { json: { size: 5, filename: 'x/Größe 1.csv' } })).json();
    const shared = {
      object: 'upload',
      method: 'PUT',
      headers: { authorization: 'Bearer <API_KEY>', 'content-type': 'application/octet-stream' },
      expires_at: TIME,
    };
    const at = `${service.baseUrl}/v1/uploads/${one['id']}/content?filename=Gr%C3%B6%C3%9Fe%201.csv`;
    expect(one).toEqual({ ...shared, id: ID('upl'), size: 5, multipart: false, url: at });
    const parts = (await api('POST', '/v1/uploads', { json: { size: 99_614_721 } })).json();
    const base = `${service.baseUrl}/v1/uploads/${parts['id']}`;
    expect(parts).toEqual({
      ...shared,
      id: ID('upl'),
      size: 99_614_721,
      multipart: true,
      part_size: 67_108_864,
      parts: [
        { part_number: 1, size: 67_108_864, url: `${base}/parts/1` },
        { part_number: 2, size: 32_505_857, url: `${base}/parts/2` },
      ],
      complete_url: `${base}/complete`,
    });
  });

  // Promise, Conventions and objects: Capabilities, word for word, the same for every caller, cacheable
  // Promise, Direct endpoints: Compress options: defaults and ranges; box sides are clamped to 100 to 9,999
  it('the capabilities', async () => {
    const body = (await api('GET', '/v1/capabilities', { key: null })).json();
    const plan = (rate: number, jobs: number, bytes: number, seconds: number) => ({
      requests_per_second: rate,
      concurrent_jobs: jobs,
      max_sync_bytes: LIMIT,
      max_async_bytes: bytes,
      max_video_seconds: seconds,
    });
    expect(body).toMatchObject({
      object: 'capabilities',
      standard: 'v1',
      operations: ['compress', 'convert', 'strip_metadata'],
      sync: { max_bytes: LIMIT, kinds: ['image', 'pdf', 'audio', 'table', 'font'] },
      compress: {
        image: {
          formats: ['original', 'jpg', 'png', 'webp', 'avif', 'heic', 'gif'],
          quality: { min: 0, max: 100, default: 75 },
          resize: { modes: ['fit', 'fill', 'width', 'height'], default: { mode: 'fit', width: 2000, height: 2000 } },
        },
        pdf: { quality: ['tiny', 'small', 'medium', 'large', 'original'], default: 'medium' },
        video: {
          inputs: ['mp4', 'mov', 'avi', 'mkv', 'webm', 'flv', 'wmv', 'm4v', 'mpg', '3gp'],
          formats: ['mp4', 'mov', 'webm', 'mkv'],
          codecs: ['h265', 'h264', 'vp9'],
          quality: ['tiny', 'low', 'balanced', 'high', 'maximum', 'web'],
          resolution: ['original', 3840, 1920, 1280, 854],
        },
        audio: {
          inputs: ['mp3', 'aac', 'wav', 'flac', 'm4a', 'ogg', 'opus', 'wma'],
          formats: ['aac', 'm4a', 'mp3', 'ogg', 'opus', 'wav', 'flac', 'alac', 'original'],
          quality: ['tiny', 'low', 'balanced', 'high', 'maximum'],
        },
      },
      convert: {
        image: ['jpg', 'png', 'webp', 'avif', 'heic', 'tiff', 'bmp', 'gif', 'pdf'],
        pdf: ['png', 'jpg'],
        word: ['pdf', 'docx', 'odt', 'rtf', 'txt', 'html'],
        sheet: ['pdf', 'xlsx', 'ods', 'csv', 'html'],
        presentation: ['pdf', 'pptx', 'odp'],
        video: ['mp4', 'mov', 'webm', 'mkv'],
        audio: ['m4a', 'mp3', 'wav', 'flac', 'ogg'],
        table: ['csv', 'tsv', 'json', 'ndjson', 'html', 'md', 'xlsx'],
        font: ['ttf', 'otf', 'woff', 'woff2'],
      },
      strip_metadata: { kinds: ['image', 'pdf'] },
      plans: {
        payg: plan(5, 3, 524_288_000, 600),
        starter: plan(20, 10, 2_147_483_648, 3600),
        growth: plan(50, 30, 5_368_709_120, 10_800),
        scale: plan(150, 100, 5_368_709_120, 10_800),
        enterprise: plan(500, 500, 5_368_709_120, 10_800),
      },
    });
    expect((await api('GET', '/v1/capabilities')).json()).toEqual(body);
  });
});

describe('a direct request', () => {
  // Promise, What the service does: A direct request stores nothing
  it('leaves no file, job or upload behind', async () => {
    const before = await rowsOf();
    const sent = await sharp(photo).negate().jpeg({ quality: 95 }).toBuffer();
    const response = await api('POST', '/v1/compress', { body: sent });
    expect(response.status).toBe(200);
    expect(await rowsOf()).toEqual(before);
    const names = (await readdir(path.join(service.data, 'files'), { recursive: true })).map((name) =>
      path.basename(name),
    );
    for (const bytes of [sent, response.bytes]) {
      expect(names).not.toContain(`@${createHash('sha256').update(bytes).digest('hex')}`);
    }
  });

  function rowsOf(): Promise<unknown> {
    const count = (table: string) => `(select count(*) from ${table} where account_id = $1) as ${table}`;
    return service.query(`select ${count('jobs')}, ${count('uploads')}`, [account]);
  }

  // Promise, Bad input, case by case: Lengths
  // Promise, What the service does: Direct files up to 25 MB exactly
  it('accepts a stream of exactly 25 MB, and not one byte more', async () => {
    const sample = await readFile(new URL('../../api/data/samples/graphic.png', import.meta.url));
    const padded = Buffer.concat([sample, Buffer.alloc(LIMIT - sample.length)]);
    expect(await stream(padded)).toMatchObject({ status: 200 });
    const refused = await stream(Buffer.concat([padded, Buffer.from([0])]));
    expect(refused).toMatchObject({ status: 413, text: expect.stringContaining('"file_too_large"') });
  });

  function stream(bytes: Buffer): Promise<{ status: number; text: string }> {
    return new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${live}`, 'transfer-encoding': 'chunked' };
      const request = httpsRequest(
        `${service.baseUrl}/v1/strip-metadata`,
        { method: 'POST', ca: service.ca, headers },
        (response) => {
          let text = '';
          response.on('data', (chunk) => (text += String(chunk)));
          response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
          response.on('error', reject);
        },
      );
      request.on('error', reject);
      Readable.from([bytes], { objectMode: false }).pipe(request);
    });
  }
});
