/** Unusual and hostile JSON for every endpoint that reads JSON. */
import { describe, expect, it } from 'vitest';
import { expectRefusal } from '#test/support/expect-refusal.ts';
import { useService } from '#test/support/use-service.ts';

const { api } = await useService('scale');

const ENDPOINTS = ['/v1/jobs', '/v1/uploads', '/v1/presets', '/v1/estimate', '/v1/webhook_endpoints'] as const;
const send = (path: string, body: string | Buffer) => api('POST', path, { body });
const deep = (open: string, close: string, depth: number) => `${open.repeat(depth)}${close.repeat(depth)}`;

describe.each(ENDPOINTS)('%s', (path) => {
  // Promise, Bad input, case by case: Invalid, too deep and too long JSON, `__proto__`
  it.each([
    ['nothing', ''],
    ['a cut object', '{"a":1'],
    ['two objects', '{}{}'],
    ['an array', '[]'],
    ['a string', '"x"'],
    ['a number', '1'],
    ['null', 'null'],
    ['a comment', '{/* */}'],
    ['a trailing comma', '{"a":1,}'],
    ['single quotes', "{'a':1}"],
    ['NaN', '{"a":NaN}'],
    ['Infinity', '{"a":-Infinity}'],
    ['a leading zero', '{"a":01}'],
    ['a raw line feed in a string', '{"a":"\n"}'],
    ['a byte order mark', '\ufeff{}'],
    ['UTF-16', Buffer.from('{}', 'utf16le')],
    ['bytes that are not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ['30,000 open brackets', '['.repeat(30_000)],
    ['30,000 nested arrays', deep('[', ']', 30_000)],
    ['an unknown field with 30,000 nested arrays', `{"x":${deep('[', ']', 30_000)}}`],
    ['65,537 bytes', `{${' '.repeat(65_535)}}`],
  ])('refuses %s', async (_what, body) => {
    expectRefusal(await send(path, body), 'bad_request');
  });

  // Promise, Bad input, case by case: Invalid, too deep and too long JSON, `__proto__`
  // Promise, Jobs: Fields, unknown ones refused with their path
  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', '', 'Options'])(
    'has no field "%s"',
    async (field) => {
      const valid = {
        '/v1/jobs': '"operation":"compress","input":{"upload":"upl_x"}',
        '/v1/uploads': '"size":1',
        '/v1/presets': '"name":"a","options":{"image":{"quality":60}}',
        '/v1/estimate': '"operation":"compress","filename":"a.jpg","size":1',
        '/v1/webhook_endpoints': '"url":"https://example.com/hook"',
      }[path];
      expectRefusal(await send(path, `{${valid},${JSON.stringify(field)}:{}}`), 'bad_request', { param: field });
    },
  );
});

describe('the name __proto__', () => {
  const job = (more: string) => send('/v1/jobs', `{"operation":"compress","input":{"upload":"upl_x"},${more}}`);

  // Promise, Jobs: Fields, unknown ones refused with their path
  it.each([
    ['"metadata":{"__proto__":"x"}', 'metadata.__proto__'],
    ['"output":{"url":"https://example.com/","headers":{"__proto__":"x"}}', 'output.headers.__proto__'],
    ['"output":{"url":"https://example.com/","__proto__":{}}', 'output.__proto__'],
  ])('is an unknown field in %s', async (more, param) => {
    expectRefusal(await job(more), 'bad_request', { param });
  });

  // Promise, Bad input, case by case: Invalid, too deep and too long JSON, `__proto__`
  it('is an unknown option, wherever options are read', async () => {
    const options = '"options":{"__proto__":{"image":{"quality":1}}}';
    expectRefusal(await job(options), 'invalid_options', { param: '__proto__' });
    expectRefusal(await job('"options":{"image":{"__proto__":{"quality":1}}}'), 'invalid_options', {
      param: 'image.__proto__',
    });
    const estimate = await send('/v1/estimate', `{"operation":"compress","filename":"a.jpg","size":1,${options}}`);
    expectRefusal(estimate, 'invalid_options', { param: '__proto__' });
    expectRefusal(await send('/v1/presets', `{"name":"a",${options}}`), 'invalid_options', { param: '__proto__' });
    const query = await api('POST', '/v1/compress?image.__proto__.quality=1', { body: 'x' });
    expectRefusal(query, 'invalid_options', { param: 'image.__proto__.quality' });
  });

  // Promise, Bad input, case by case: Invalid, too deep and too long JSON, `__proto__`
  it('changed nothing for the next request', async () => {
    const estimate = await api('POST', '/v1/estimate', { json: { operation: 'compress', filename: 'a.jpg', size: 1 } });
    expect(estimate.json()).toMatchObject({ quantity: 1, notes: [expect.any(String)] });
  });
});

describe('numbers', () => {
  it.each([
    ['1e2', 100],
    ['1.0', 1],
    ['100E-2', 1],
  ])('%s is a whole number', async (text, size) => {
    expect((await send('/v1/uploads', `{"size":${text}}`)).json()).toMatchObject({ size });
  });

  // Promise, Bad input, case by case: Uploads
  it.each(['0', '-1', '-0', '1.5', '1e400', 'true', '"5"', 'null', '[]', '{}'])(
    '%s is not a valid size',
    async (text) => {
      expectRefusal(await send('/v1/uploads', `{"size":${text}}`), 'bad_request', { param: 'size' });
    },
  );

  it('are read from the last of two fields of one name', async () => {
    expect((await send('/v1/uploads', '{"size":1,"size":2}')).json()).toMatchObject({ size: 2 });
  });
});
