import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { readFields, readJsonBody } from '#api/http/json-body.ts';
import { LIMITS } from '#crds/catalogue/plans.ts';

function sent(body: string | Buffer, contentLength: number | null = null) {
  return { body: Readable.from([Buffer.from(body)]), contentLength };
}

describe('a JSON body', () => {
  it('is returned with its bytes', async () => {
    const body = await readJsonBody(sent('{ "a": 1 }'));
    expect(body.object).toEqual({ a: 1 });
    expect(body.raw.toString()).toBe('{ "a": 1 }');
  });

  it.each<[string, string | Buffer, RegExp]>([
    ['that is not JSON', '{', /not valid JSON/],
    ['that begins with a byte order mark', '\uFEFF{}', /not valid JSON/],
    ['that is not UTF-8', Buffer.from([0x22, 0xff, 0x22]), /not valid JSON/],
    ['that is a form', '--boundary\r\n', /The body is a form/],
    ['that is a list', '[]', /send a JSON object/],
    ['with a NUL character', String.raw`{"a":"\u0000"}`, /NUL|U\+0000/],
  ])('%s is refused', async (_what, body, message) => {
    await expect(readJsonBody(sent(body))).rejects.toMatchObject({
      code: 'bad_request',
      message: expect.stringMatching(message),
    });
  });

  it('that declares too many bytes is refused before it is read', async () => {
    const request = sent('{}', LIMITS.jsonBodyBytes + 1);
    await expect(readJsonBody(request)).rejects.toThrow(`has ${LIMITS.jsonBodyBytes + 1} bytes or more`);
    expect(request.body.readableDidRead).toBe(false);
  });

  it('of undeclared length is refused when it is too long', async () => {
    await expect(readJsonBody(sent(' '.repeat(LIMITS.jsonBodyBytes + 1)))).rejects.toMatchObject({
      code: 'bad_request',
    });
    expect((await readJsonBody(sent(`{}${' '.repeat(LIMITS.jsonBodyBytes - 2)}`))).object).toEqual({});
  });

  it('is parsed by the schema of its endpoint', async () => {
    const schema = z.strictObject({ name: z.string() });
    expect(await readFields(sent('{"name":"a"}'), schema)).toEqual({ name: 'a' });
    await expect(readFields(sent('{"name":1}'), schema)).rejects.toMatchObject({ param: 'name' });
  });
});
