import { request as httpsRequest } from 'node:https';
import { Readable } from 'node:stream';
import sharp from 'sharp';
import { FormData } from 'undici';
import { describe, expect, it } from 'vitest';
import { noise } from '#test/fixtures/noise.ts';
import type { ApiResponse } from '#test/support/api-client.ts';
import { expectRefusal } from '#test/support/expect-refusal.ts';
import { useService } from '#test/support/use-service.ts';

const { service, live, test, api, makeAccount } = await useService('scale');

const jpg = await noise(300, 200)
  .jpeg({ quality: 97 })
  .withExif({ IFD0: { Software: 'canary-software' } })
  .toBuffer();
const png = await noise(300, 200).png().toBuffer();

const resultOf = (response: ApiResponse) =>
  JSON.parse(String(response.headers['svc-result'])) as Record<string, unknown>;

function form(parts: Record<string, Blob | string>, names: Record<string, string> = {}): FormData {
  const data = new FormData();
  for (const [name, value] of Object.entries(parts)) {
    if (typeof value === 'string') data.append(name, value);
    else data.append(name, value, names[name] ?? 'blob');
  }
  return data;
}

describe('compress', () => {
  it('responds to a long name whose 255th character is outside the Basic Multilingual Plane', async () => {
    const name = `${'a'.repeat(250)}${'😀'.repeat(5)}.jpg`;
    const response = await api('POST', `/v1/compress?filename=${encodeURIComponent(name)}`, { body: jpg });
    expect(response.status).toBe(200);
    expect(decodeURIComponent(String(response.headers['content-disposition']))).toContain(`${'a'.repeat(250)}😀.jpg`);
  });

  // Promise, Direct endpoints: All headers of success
  // Promise, What the service does: Images, PDFs, audio, tables and fonts are compressed, converted or stripped in one request
  it('returns the file with every header', async () => {
    const response = await api('POST', '/v1/compress?filename=a/b/My%20photo.JPEG', { body: jpg });
    expect(response.status).toBe(200);
    const { headers, bytes } = response;
    expect(headers).toMatchObject({
      'content-type': 'image/jpeg',
      'content-length': String(bytes.length),
      'content-disposition': 'attachment; filename="My photo.jpg"',
      'cache-control': 'no-store',
      'svc-original-size': String(jpg.length),
      'svc-output-size': String(bytes.length),
      'svc-output-format': 'jpg',
      'svc-kept-original': 'false',
      'svc-billed': 'true',
      'ratelimit-limit': '300',
    });
    expect(headers['svc-savings-percent']).toMatch(/^\d+\.\d$/);
    expect(resultOf(response)).toMatchObject({
      kind: 'image',
      width: 300,
      height: 200,
      increased: false,
      output_size: bytes.length,
    });
    expect(bytes.includes('canary-software')).toBe(false);
    const rows = await service.query(
      'select meter, quantity, amount_micro_usd as amount from ledger where source_id = $1',
      [headers['svc-request-id']],
    );
    expect(rows).toEqual([{ meter: 'images', quantity: 1, amount: 2000 }]);
  });

  // Promise, Direct endpoints: Formats and resizing of images
  it.each([
    ['jpg', 'image/jpeg'],
    ['png', 'image/png'],
    ['webp', 'image/webp'],
    ['avif', 'image/avif'],
    ['heic', 'image/heic'],
    ['gif', 'image/gif'],
  ])('writes %s', async (format, mediaType) => {
    const response = await api('POST', `/v1/compress?image.format=${format}&image.quality=40`, { body: png });
    expect(response.status).toBe(200);
    expect(response.headers['content-type']).toBe(mediaType);
    expect(response.headers['svc-output-format']).toBe(format);
    const facts = await sharp(response.bytes).metadata();
    expect([facts.width, facts.height]).toEqual([300, 200]);
  });

  // Promise, Direct endpoints: Formats and resizing of images
  it.each([
    ['image.resize.width=100&image.resize.mode=width', [100, 67]],
    ['image.resize.width=1&image.resize.mode=width', [100, 67]],
    ['image.resize.width=150&image.resize.height=150&image.resize.mode=fill', [150, 150]],
    ['image.resize=false', [300, 200]],
  ])('resizes by %s', async (query, size) => {
    const response = await api('POST', `/v1/compress?image.format=webp&${query}`, { body: png });
    const facts = await sharp(response.bytes).metadata();
    expect([facts.width, facts.height]).toEqual(size);
  });

  // Promise, Bad input, case by case: Lengths
  // Promise, Direct endpoints: A test key requires Content-Length, a live one does not
  it('accepts a streamed body without Content-Length with a live key only', async () => {
    const chunked = (key: string): Promise<{ status: number; text: string }> =>
      new Promise((resolve, reject) => {
        const request = httpsRequest(
          `${service.baseUrl}/v1/compress`,
          {
            method: 'POST',
            ca: service.ca,
            headers: { authorization: `Bearer ${key}`, 'transfer-encoding': 'chunked' },
          },
          (response) => {
            let text = '';
            response.on('data', (chunk) => (text += String(chunk)));
            response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
          },
        );
        request.on('error', reject);
        Readable.from([jpg.subarray(0, 1000), jpg.subarray(1000)]).pipe(request);
      });
    expect((await chunked(live)).status).toBe(200);
    const refused = await chunked(test);
    expect(refused.status).toBe(400);
    expect(JSON.parse(refused.text).error).toMatchObject({ code: 'bad_request', param: 'Content-Length' });
  });

  // Promise, Direct endpoints: Multipart with `file` and `options`; the query overrides per field
  it('accepts multipart/form-data, and the query overrides its options field by field', async () => {
    const options = JSON.stringify({ image: { format: 'webp', quality: 10 } });
    const body = form({ options, file: new Blob([png]) }, { file: 'grafik.png' });
    const response = await api('POST', '/v1/compress?image.format=avif', { body });
    expect(response.headers).toMatchObject({
      'content-type': 'image/avif',
      'content-disposition': 'attachment; filename="grafik.avif"',
    });
    const lateOptions = form({ file: new Blob([png]), options }, { file: 'grafik.png' });
    expect((await api('POST', '/v1/compress', { body: lateOptions })).headers['content-type']).toBe('image/webp');
  });

  // Promise, Bad input, case by case: No file, broken multipart, endless part headers
  // Promise, Direct endpoints: Missing_file, invalid_options, bad_request
  // Promise, Direct endpoints: Multipart with `file` and `options`; the query overrides per field
  it.each([
    ['no file part', form({ options: '{}' }), 'missing_file'],
    ['options that are not JSON', form({ options: '{', file: new Blob([png]) }), 'invalid_options'],
    [
      'options that are wrong',
      form({ file: new Blob([png]), options: '{"image":{"quality":101}}' }),
      'invalid_options',
    ],
    ['options that are not an object', form({ file: new Blob([png]), options: '[]' }), 'invalid_options'],
    ['an empty file part', form({ file: new Blob([]) }), 'missing_file'],
  ] as const)('refuses multipart with %s', async (_name, body, code) => {
    expectRefusal(await api('POST', '/v1/compress', { body }), code);
  });

  // Promise, Bad input, case by case: No file, broken multipart, endless part headers
  // Promise, Direct endpoints: Multipart with `file` and `options`; the query overrides per field
  it.each([
    ['multipart/form-data', 'x'],
    ['multipart/form-data; boundary=b', 'no boundary at all'],
    ['multipart/form-data; boundary=b', '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\ncut'],
  ])('refuses the unparseable multipart body of %s', async (type, body) => {
    const response = await api('POST', '/v1/compress', { body, headers: { 'content-type': type } });
    expect(['bad_request', 'missing_file']).toContain(response.json()['error'].code);
    expect(response.status).toBe(400);
  });

  // Promise, Direct endpoints: Raw body of any content type; name by query or Content-Disposition, the query first
  it.each(['multipart/form-data-x; boundary=b', 'multipart/mixed; boundary=b', 'text/csv; charset=utf-16', 'nonsense'])(
    'takes a body of the type %s as the file itself',
    async (type) => {
      const response = await api('POST', '/v1/compress', { body: png, headers: { 'content-type': type } });
      expect(resultOf(response)).toMatchObject({ input_format: 'png', original_size: png.length });
    },
  );

  // Promise, Bad input, case by case: No file, broken multipart, endless part headers
  it.each([
    ['a part header of a megabyte', `X-Long: ${'x'.repeat(1_000_000)}\r\n\r\nabc\r\n--b--\r\n`],
    ['a part header that never ends', `X-Long: ${'x'.repeat(20_000_000)}`],
  ])('refuses multipart with %s, and names the limit', async (_what, rest) => {
    const start = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\n';
    const headers = { 'content-type': 'multipart/form-data; boundary=b' };
    const response = await api('POST', '/v1/compress', { body: start + rest, headers });
    expectRefusal(response, 'bad_request');
    expect(response.json()['error'].message).toContain('16384 bytes');
  });

  // Promise, Direct endpoints: Unknown options are refused, those of other kinds ignored
  // Promise, Direct endpoints: Missing_file, invalid_options, bad_request
  it.each([
    ['an unknown option', 'image.colour=red', 'invalid_options', 'image.colour'],
    ['a value out of range', 'image.quality=101', 'invalid_options', 'image.quality'],
    ['a repeated option', 'image.quality=1&image.quality=2', 'bad_request', 'image.quality'],
    ['an unknown preset', 'preset=none', 'bad_request', 'preset'],
    ['the short name of convert', 'to=png', 'invalid_options', 'to'],
  ] as const)('refuses %s', async (_name, query, code, param) => {
    expectRefusal(await api('POST', `/v1/compress?${query}`, { body: jpg }), code, { param });
  });

  // Promise, Bad input, case by case: Damaged files
  // Promise, Bad input, case by case: No file, broken multipart, endless part headers
  // Promise, Direct endpoints: Missing_file, invalid_options, bad_request
  it.each([
    ['an empty body', Buffer.alloc(0), 'missing_file'],
    ['bytes that are nothing', Buffer.from('hello there, this is nothing'), 'unsupported_input'],
    ['an SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'unsupported_input'],
    ['a truncated JPEG', jpg.subarray(0, 400), 'processing_failed'],
  ] as const)('refuses %s', async (_name, body, code) => {
    const response = await api('POST', '/v1/compress', { body, headers: { 'content-length': String(body.length) } });
    expectRefusal(response, code);
    expect(response.headers['ratelimit-limit']).toBe('300');
  });

  // Promise, Bad input, case by case: Lengths
  // Promise, Limits and versions: Test keys: samples only, never billed, 10 MB direct
  // Promise, Direct endpoints: File_too_large before the body
  it.each([
    ['scale', 'live', 26_214_401],
    ['none', 'test', 10_485_761],
  ])('refuses a file over the limit before its body (%s, %s)', async (_plan, mode, size) => {
    const status = await new Promise<number>((resolve, reject) => {
      const request = httpsRequest(
        `${service.baseUrl}/v1/compress`,
        {
          method: 'POST',
          ca: service.ca,
          headers: { authorization: `Bearer ${mode === 'live' ? live : test}`, 'content-length': String(size) },
        },
        (response) => {
          resolve(response.statusCode ?? 0);
          response.resume();
          request.destroy();
        },
      );
      request.on('error', reject);
      request.flushHeaders();
    });
    expect(status).toBe(413);
  });

  it('requires a published sample with a test key', async () => {
    expectRefusal(await api('POST', '/v1/compress', { key: test, body: jpg }), 'test_mode_sample_required');
  });

  it('requires the feature for HEIC output', async () => {
    const other = await makeAccount();
    await service.mediactl('account', 'set', other.account, '--no-feature', 'heic_output');
    expectRefusal(
      await api('POST', '/v1/compress?image.format=heic', { key: other.live, body: jpg }),
      'feature_not_enabled',
    );
  });

  // Promise, Presets, estimate, usage: Failed requests are counted as unbilled, refused ones are not counted
  it('counts a file that failed as a free request, and a refused request not at all', async () => {
    const failed = await api('POST', '/v1/compress', { body: jpg.subarray(0, 400) });
    const refused = await api('POST', '/v1/compress?image.quality=101', { body: jpg });
    const counted = async (response: ApiResponse) =>
      service.query('select meter, amount_micro_usd as amount from ledger where source_id = $1', [
        response.headers['svc-request-id'],
      ]);
    expect(await counted(failed)).toEqual([{ meter: 'unbilled', amount: 0 }]);
    expect(await counted(refused)).toEqual([]);
  });
});

describe('convert', () => {
  // Promise, Direct endpoints: Convert: target, its spellings and case, page, dpi; larger results are returned
  it.each([
    ['to=png', 'image/png', 'photo.png'],
    ['to=JPEG', 'image/jpeg', 'photo.jpg'],
    ['convert.to=tif', 'image/tiff', 'photo.tiff'],
    ['to=bmp', 'image/bmp', 'photo.bmp'],
    ['to=pdf', 'application/pdf', 'photo.pdf'],
    ['to=heif', 'image/heic', 'photo.heic'],
  ])('an image with %s', async (query, mediaType, name) => {
    const response = await api('POST', `/v1/convert?${query}&filename=photo.jpg`, { body: jpg });
    expect(response.status).toBe(200);
    expect(response.headers).toMatchObject({
      'content-type': mediaType,
      'content-disposition': `attachment; filename="${name}"`,
      'svc-kept-original': 'false',
    });
  });

  // Promise, Direct endpoints: Convert: target, its spellings and case, page, dpi; larger results are returned
  // Promise, Bad input, case by case: File names
  // Promise, Direct endpoints: Only the last component of a name is used; tables need a name
  // Promise, Direct endpoints: Raw body of any content type; name by query or Content-Disposition, the query first
  it.each([
    ['', 'invalid_options'],
    ['?to=docx', 'unsupported_target'],
    ['?to=nonsense', 'unsupported_target'],
  ] as const)('refuses an image with "%s"', async (query, code) => {
    const response = await api('POST', `/v1/convert${query}`, { body: jpg });
    expectRefusal(response, code);
    if (query === '?to=docx') expect(response.json()['error'].message).toContain('webp');
  });

  // Promise, Direct endpoints: Only the last component of a name is used; tables need a name
  it('a table by its name', async () => {
    const response = await api('POST', '/v1/convert?to=json&filename=people.csv', { body: 'id,name\n0010,Ada\n' });
    expect(JSON.parse(response.bytes.toString())).toEqual([{ id: '0010', name: 'Ada' }]);
  });
});

describe('strip-metadata', () => {
  // Promise, Direct endpoints: Unknown options are refused, those of other kinds ignored
  it('removes metadata and keeps every pixel', async () => {
    const response = await api('POST', '/v1/strip-metadata?image.quality=10', { body: jpg });
    expect(response.headers).toMatchObject({
      'svc-kept-original': 'false',
      'svc-output-format': 'jpg',
      'svc-billed': 'true',
    });
    expect(response.bytes.includes('canary-software')).toBe(false);
    const [before, after] = await Promise.all([sharp(jpg).raw().toBuffer(), sharp(response.bytes).raw().toBuffer()]);
    expect(after.equals(before)).toBe(true);
  });

  it('is for images and PDFs', async () => {
    expectRefusal(await api('POST', '/v1/strip-metadata?filename=a.csv', { body: 'a,b\n1,2\n' }), 'unsupported_input');
  });
});

describe('file names', () => {
  it.each([
    ['..%2F..%2Fetc%2Fpasswd', 'attachment; filename="passwd.jpg"'],
    ['C:%5Cx%5Cy.png', 'attachment; filename="y.jpg"'],
    [
      '%D0%BE%D1%82%D1%87%D1%91%D1%82.png',
      `attachment; filename="?????.jpg"; filename*=UTF-8''%D0%BE%D1%82%D1%87%D1%91%D1%82.jpg`,
    ],
    ['.', 'attachment; filename="file.jpg"'],
    ['', 'attachment; filename="file.jpg"'],
    ['a%0D%0AX: y.png', null],
    ['%22; x=%22.jpg', null],
    ['%F0%9F%98%80.jpg', null],
    ['a'.repeat(300), null],
  ])('%s', async (name, disposition) => {
    const response = await api('POST', `/v1/compress?filename=${name}`, { body: jpg });
    expect(response.status).toBe(200);
    if (disposition !== null) expect(response.headers['content-disposition']).toBe(disposition);
    expect(response.headers['x']).toBeUndefined();
  });

  // Promise, Direct endpoints: Raw body of any content type; name by query or Content-Disposition, the query first
  it('come from Content-Disposition when the query has none', async () => {
    const named = { 'content-disposition': 'attachment; filename="from header.png"' };
    const response = await api('POST', '/v1/compress', { body: jpg, headers: named });
    expect(response.headers['content-disposition']).toBe('attachment; filename="from header.jpg"');
  });
});
