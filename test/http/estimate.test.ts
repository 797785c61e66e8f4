import { describe, expect, it } from 'vitest';
import { utcMonth } from '#api/billing/calendar.ts';
import { expectRefusal } from '#test/support/expect-refusal.ts';
import { useService } from '#test/support/use-service.ts';

const { service, test, api, makeAccount } = await useService('payg');

const ask = (json: unknown, key?: string) =>
  api('POST', '/v1/estimate', { json, ...(key === undefined ? {} : { key }) });
const file = (filename: string, more: object = {}) => ({ operation: 'compress', filename, size: 1000, ...more });
const to = (target: string) => ({ operation: 'convert', options: { convert: { to: target } } });
const MB = 1024 ** 2;
const FREE = 'A file that cannot be made smaller is returned unchanged and free of charge.';

describe('an estimate', () => {
  // Promise, Conventions and objects: Estimate object and its notes
  it('prices the example of the interface: 150 seconds of 1080p in H.265 are 63 units', async () => {
    const response = await ask(file('holiday.mp4', { duration_seconds: 150, width: 1920, height: 1080 }));
    expect(response.status).toBe(200);
    expect(response.json()).toStrictEqual({
      object: 'estimate',
      operation: 'compress',
      kind: 'video',
      input_format: 'mp4',
      output_format: 'mp4',
      lane: 'job',
      meter: 'video_units',
      quantity: 63,
      amount_usd: 0.063,
      notes: [FREE],
    });
  });

  // Promise, Conventions and objects: Units and price of each meter
  it.each<[string, object, object]>([
    [
      'an image',
      file('a.JPEG'),
      { kind: 'image', input_format: 'jpg', output_format: 'jpg', meter: 'images', quantity: 1, amount_usd: 0.002 },
    ],
    ['camera RAW', file('a.nef'), { input_format: 'nef', output_format: 'jpg' }],
    ['another image format', file('a.png', { options: { image: { format: 'avif' } } }), { output_format: 'avif' }],
    [
      'a PDF of 101 pages',
      file('a.pdf', { pages: 101 }),
      { output_format: 'pdf', meter: 'pdfs', quantity: 2, amount_usd: 0.02 },
    ],
    [
      'a rendered page',
      { ...file('a.pdf'), ...to('png') },
      { output_format: 'png', meter: 'images', quantity: 1, notes: [] },
    ],
    [
      'metadata of a PDF',
      { ...file('a.pdf'), operation: 'strip_metadata' },
      { output_format: 'pdf', meter: 'images', notes: [] },
    ],
    [
      'audio',
      file('a.wav', { duration_seconds: 60.5 }),
      { output_format: 'aac', lane: 'direct', meter: 'audio_minutes', quantity: 2, amount_usd: 0.004 },
    ],
    [
      'audio as it was',
      file('a.wma', { duration_seconds: 1, options: { audio: { format: 'original' } } }),
      { output_format: 'm4a' },
    ],
    [
      'a document',
      { ...file('a.docx'), ...to('PDF') },
      { kind: 'word', output_format: 'pdf', lane: 'job', meter: 'documents', amount_usd: 0.01 },
    ],
    [
      'a table',
      { ...file('a.csv'), ...to('markdown') },
      { kind: 'table', output_format: 'md', lane: 'direct', meter: 'files', amount_usd: 0.001 },
    ],
    ['a font', { ...file('a.ttf'), ...to('woff2') }, { kind: 'font', lane: 'direct', meter: 'files' }],
    ['nulls as not given', file('a.jpg', { pages: null, options: null, duration_seconds: null }), { meter: 'images' }],
  ])('prices %s', async (_what, fields, expected) => {
    expect((await ask(fields)).json()).toMatchObject(expected);
  });

  // Promise, Conventions and objects: Units and price of each meter
  it.each<[string, object, number]>([
    ['854', { resolution: 854 }, 3 * 3 * 1.5],
    ['854, upright', { resolution: 854, upright: true }, 3 * 3 * 1.5],
    ['1280 in H.264', { resolution: 1280, codec: 'h264' }, 3 * 7],
    ['3840, not enlarged', { resolution: 3840 }, 63],
    ['webm, which is VP9', { format: 'webm' }, 3 * 14 * 2],
  ])('prices video by its output: %s', async (_what, { upright, ...video }: { upright?: boolean }, quantity) => {
    const size = upright === true ? { width: 1080, height: 1920 } : { width: 1920, height: 1080 };
    expect((await ask(file('a.mov', { duration_seconds: 150, ...size, options: { video } }))).json()['quantity']).toBe(
      quantity,
    );
  });

  it('keeps the size of converted video, and takes the codec of its target', async () => {
    const fields = file('a.mov', { duration_seconds: 60, width: 3840, height: 2160, operation: 'convert' });
    const options = { convert: { to: 'webm' }, video: { resolution: 854 } };
    expect((await ask({ ...fields, options })).json()).toMatchObject({ quantity: 112, output_format: 'webm' });
  });

  // Promise, Presets, estimate, usage: Estimate: fields, free with any key, tiers of the month
  it.each([
    ['direct', 25 * MB],
    ['job', 25 * MB + 1],
  ])('names the lane %s for an image of %i bytes', async (lane, size) => {
    expect((await ask(file('a.jpg', { size }))).json()['lane']).toBe(lane);
  });

  // Promise, Presets, estimate, usage: Estimate: fields, free with any key, tiers of the month
  it('counts the images already billed this month', async () => {
    const other = await makeAccount('payg');
    await service.query('insert into monthly_spend values ($1, $2, 0, 10000)', [other.account, utcMonth(new Date())]);
    expect((await ask(file('a.jpg'), other.live)).json()['amount_usd']).toBe(0.001);
    expect((await ask(file('a.jpg'), other.test)).json()['amount_usd']).toBe(0.001);
    expect((await ask(file('a.jpg'))).json()['amount_usd']).toBe(0.002);
  });

  // Promise, Presets, estimate, usage: Estimate: fields, free with any key, tiers of the month
  it('is free, and works with a test key', async () => {
    expect((await ask(file('a.jpg'), test)).status).toBe(200);
    expect((await api('GET', '/v1/usage')).json()['totals'].requests).toBe(0);
  });
});

describe('the notes of an estimate', () => {
  // Promise, Conventions and objects: Estimate object and its notes
  it.each<[string, object, string]>([
    ['a missing height', file('a.mp4', { duration_seconds: 1, width: 100 }), '1920x1080 is assumed'],
    ['missing pages', file('a.pdf'), '100 pages or fewer are assumed'],
    ['a file over the plan', file('a.jpg', { size: 500 * MB + 1 }), 'larger than the plan allows'],
    ['a file over every plan', file('a.jpg', { size: 2 ** 60 }), 'larger than the plan allows'],
    ['a TIFF', file('a.tif'), 'converted to png instead of jpg'],
  ])('mention %s', async (_what, fields, note) => {
    const { notes } = (await ask(fields)).json() as { notes: string[] };
    expect(notes).toHaveLength(2);
    expect(notes[0]).toContain(note);
    expect(notes[1]).toBe(FREE);
  });

  // Promise, Conventions and objects: Estimate object and its notes
  it('assume 1920x1080 for the price when a side is missing', async () => {
    expect((await ask(file('a.mp4', { duration_seconds: 150, width: 100 }))).json()['quantity']).toBe(63);
  });

  // Promise, Conventions and objects: Estimate object and its notes
  it('name the features that are not enabled for the account', async () => {
    const made = await service.mediactl('account', 'create', '--name', 'plain', '--plan', 'payg', '--payment-method');
    const { key } = await service.mediactl(
      'key',
      'create',
      '--account',
      String(made['id']),
      '--mode',
      'live',
      '--name',
      'k',
    );
    const notesOf = async (fields: object): Promise<string> => String((await ask(fields, String(key))).json()['notes']);
    expect(await notesOf(file('a.mp4', { duration_seconds: 1 }))).toContain(
      'Video is in limited preview and not enabled',
    );
    expect(await notesOf(file('a.heic'))).toContain('HEIC output is in limited preview and not enabled');
    expect(await notesOf({ ...file('a.png'), ...to('heif') })).toContain('HEIC output');
    expect(await notesOf({ ...file('a.heic'), operation: 'strip_metadata' })).toBe('');
    expect((await ask(file('a.heic'))).json()['notes']).toStrictEqual([FREE]);
  });
});

describe('an estimate that is refused', () => {
  it.each<[unknown, string]>([
    [{}, 'operation'],
    [file('a.jpg', { operation: 'resize' }), 'operation'],
    [{ operation: 'compress', size: 1 }, 'filename'],
    [file(''), 'filename'],
    [{ operation: 'compress', filename: 'a.jpg' }, 'size'],
    [file('a.jpg', { size: 0 }), 'size'],
    [file('a.jpg', { size: 1.5 }), 'size'],
    [file('a.pdf', { pages: 0 }), 'pages'],
    [file('a.mp4', { duration_seconds: -1 }), 'duration_seconds'],
    [file('a.mp4', { duration_seconds: 1e300 }), 'duration_seconds'],
    [file('a.mp4', { duration_seconds: 1, width: -1, height: 1 }), 'width'],
    [file('a.mp4'), 'duration_seconds'],
    [file('a.mp3'), 'duration_seconds'],
    [file('a.jpg', { preset: 'x' }), 'preset'],
  ])('for %j is a bad request', async (fields, param) => {
    expectRefusal(await ask(fields), 'bad_request', { param });
  });

  // Promise, Presets, estimate, usage: Estimate: refusals
  it('requires an object', async () => {
    expectRefusal(await ask([]), 'bad_request');
  });

  it.each<[object, string]>([
    [file('a.jpg', { options: { image: { quality: 101 } } }), 'image.quality'],
    [file('a.jpg', { options: { nope: 1 } }), 'nope'],
    [file('a.jpg', { operation: 'convert' }), 'convert.to'],
    [file('a.mp4', { duration_seconds: 1, options: { video: { format: 'webm', codec: 'h264' } } }), 'video.codec'],
  ])('for %j has invalid options', async (fields, param) => {
    expectRefusal(await ask(fields), 'invalid_options', { param });
  });

  // Promise, Bad input, case by case: Estimates
  // Promise, Presets, estimate, usage: Estimate: refusals
  it.each([
    [file('a.xyz')],
    [file('noextension')],
    [file('a.svg')],
    [file('a.ttf')],
    [file('a.docx')],
    [file('a.mp3', { operation: 'strip_metadata', duration_seconds: 1 })],
    [{ ...file('a.cr2'), ...to('jpg') }],
  ])('for %j has an unsupported input', async (fields) => {
    expectRefusal(await ask(fields), 'unsupported_input', { param: 'filename' });
  });

  it.each([
    ['a.b/c.xyz', '`filename` has the extension `.xyz`, of no supported format.'],
    ['a.b/c', '`filename` has no extension.'],
  ])('for the name %s says what is wrong with it', async (name, message) => {
    const response = await ask(file(name));
    expect(response.json()).toMatchObject({ error: { message: expect.stringContaining(message) as string } });
  });

  // Promise, Presets, estimate, usage: Estimate: refusals
  it.each([['docx'], ['nothing']])('of a conversion to %s has an unsupported target', async (target) => {
    expectRefusal(await ask({ ...file('a.jpg'), ...to(target) }), 'unsupported_target', { param: 'convert.to' });
  });

  it('requires a key', async () => {
    expectRefusal(await api('POST', '/v1/estimate', { key: null, json: file('a.jpg') }), 'missing_key');
  });
});
