import { describe, expect, it } from 'vitest';
import { expectRefusal } from '#test/support/expect-refusal.ts';
import { useService } from '#test/support/use-service.ts';

const { api } = await useService('growth');

interface Refused {
  readonly error: { readonly message: string; readonly param: string | null };
}

const CSV = 'a,b\n1,2\n';

function form(...parts: readonly (readonly [name: string, content: string, filename?: string])[]): FormData {
  const data = new FormData();
  for (const [name, content, filename] of parts) {
    if (filename === undefined) data.append(name, content);
    else data.append(name, new Blob([content]), filename);
  }
  return data;
}

async function send(path: string, data: FormData) {
  const request = new Request('https://localhost/', { method: 'POST', body: data });
  const headers = { 'content-type': request.headers.get('content-type') ?? '' };
  return api('POST', path, { body: Buffer.from(await request.arrayBuffer()), headers });
}

describe('a misspelt name', () => {
  it.each([
    ['POST', '/v1/jobs?dry_run=true', 'dry_run'],
    ['POST', '/v1/uploads?filename=a.csv', 'filename'],
    ['POST', '/v1/estimate?x=1', 'x'],
    ['POST', '/v1/presets?x=1', 'x'],
    ['GET', '/v1/presets?limit=1', 'limit'],
    ['GET', '/v1/jobs/job_00000000000000000000?expand=result', 'expand'],
    ['DELETE', '/v1/jobs/job_00000000000000000000?x', 'x'],
    ['GET', '/v1/jobs/job_00000000000000000000/receipt?x=', 'x'],
    ['PUT', '/v1/uploads/upl_00000000000000000000/content?filname=a', 'filname'],
    ['PUT', '/v1/uploads/upl_00000000000000000000/parts/1?x=1', 'x'],
    ['GET', '/v1/webhook_endpoints?x=1', 'x'],
  ] as const)('among the parameters of %s %s is refused', async (method, path, param) => {
    const response = await api(method, path, method === 'GET' || method === 'DELETE' ? {} : { body: '{}' });
    expectRefusal(response, 'bad_request', { param });
  });

  it.each([
    [
      'an unknown part',
      [
        ['file', CSV, 'a.csv'],
        ['option', '{}'],
      ],
      'option',
    ],
    [
      'an unknown part before the file',
      [
        ['x', 'y'],
        ['file', CSV, 'a.csv'],
      ],
      'x',
    ],
    [
      'a second file',
      [
        ['file', CSV, 'a.csv'],
        ['file', CSV, 'b.csv'],
      ],
      'file',
    ],
    [
      'second options',
      [
        ['file', CSV, 'a.csv'],
        ['options', '{}'],
        ['options', '{}'],
      ],
      'options',
    ],
  ] as const)('or repeated one in a form is refused: %s', async (_what, parts, param) => {
    expectRefusal(await send('/v1/convert?to=json', form(...parts)), 'bad_request', { param });
  });

  it('in place of `file` leaves the form without a file', async () => {
    expectRefusal(await send('/v1/convert?to=json', form(['datei', CSV, 'a.csv'])), 'missing_file');
  });

  it.each([
    [
      '/v1/presets',
      { name: 'a', options: { image: { quality: '5' } } },
      '`image.quality` is `"5"`: it has to be a number.',
    ],
    ['/v1/jobs', { opeartion: 'compress' }, 'Did you mean `operation`?'],
    ['/v1/presets', { name: 'a', options: { 'image.quality': 5 } }, 'send {"image": {"quality": …}} in place of'],
    [
      '/v1/presets',
      { name: 'a', options: { quality: 5 } },
      'Did you mean `image.quality` or `pdf.quality` or `video.quality`?',
    ],
    [
      '/v1/presets',
      { name: 'a', options: { image: { quality: 101 } } },
      '`image.quality` is `101`: the maximum is 100.',
    ],
    ['/v1/presets', { name: 'a', options: { image: { format: 'jpgg' } } }, 'it has to be one of original, jpg'],
  ])('in JSON for %s is answered with what to send (%#)', async (path, json, message) => {
    const { error } = (await api('POST', path, { json })).json() as unknown as Refused;
    expect(error.message).toContain(message);
  });
});

describe('a message', () => {
  it.each([
    ['small', CSV],
    ['large', 'a,b\n'.repeat(20_000)],
  ])('says that a %s form is no JSON, and where files go', async (_size, content) => {
    const response = await send('/v1/jobs', form(['file', content, 'a.csv']));
    expectRefusal(response, 'bad_request');
    expect(response.bytes.toString('utf8')).toContain('POST /v1/uploads');
  });

  it('says that an upload without Content-Length needs one, and that an empty one is empty', async () => {
    const { id } = (await api('POST', '/v1/uploads', { json: { size: 3 } })).json();
    const path = `/v1/uploads/${String(id)}/content`;
    const empty = await api('PUT', path, { body: '' });
    expectRefusal(empty, 'bad_request', { param: 'Content-Length' });
    expect(empty.bytes.toString('utf8')).toContain('The content is empty');
  });

  it('suggests the endpoint for a misspelt path', async () => {
    const response = await api('GET', '/v1/job', { key: null });
    expectRefusal(response, 'not_found');
    expect((response.json() as unknown as Refused).error.message).toContain('Did you mean `/v1/jobs`?');
  });

  it('has the article of the kind', async () => {
    const png = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      'base64',
    );
    const response = await api('POST', '/v1/convert?to=mp3', { body: png });
    expectRefusal(response, 'unsupported_target');
    expect((response.json() as unknown as Refused).error.message).toMatch(/^An image file does not convert to mp3\./);
  });
});
