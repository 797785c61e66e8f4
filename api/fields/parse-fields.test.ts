import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { checkJsonObject, parseFields } from '#api/fields/parse-fields.ts';

const schema = z.strictObject({
  name: z.string(),
  size: z.int().min(1).optional(),
  kind: z.enum(['a', 'b']).optional(),
  notes: z.record(z.string().max(2), z.string()).optional(),
  output: z.strictObject({ headers: z.record(z.string(), z.string()) }).optional(),
  input: z.strictObject({ url: z.string() }).optional(),
  options: z.looseObject({}).optional(),
});
const fromJson = (text: string): unknown => JSON.parse(text);

describe('parseFields', () => {
  it.each([
    ['{}', 'name', '`name` is missing; it is required.'],
    ['{"name": 5}', 'name', '`name` is `5`: it has to be a string.'],
    ['{"name": null}', 'name', '`name` is `null`: it has to be a string.'],
    ['{"name": "a", "size": 0}', 'size', '`size` is `0`: the minimum is 1.'],
    ['{"name": "a", "size": "0"}', 'size', '`size` is `"0"`: it has to be a number.'],
    ['{"name": "a", "size": [0]}', 'size', '`size` is not valid: it has to be a number.'],
    ['{"name": "a", "kind": "c"}', 'kind', '`kind` is `"c"`: it has to be one of a, b.'],
    [
      '{"name": "a", "notes": {"abc": ""}}',
      'notes.abc',
      '`notes.abc` is not valid: its name is not allowed: the maximum is 2',
    ],
    ['{"name": "a", "output": {"headers": "a: 5"}}', 'output.headers', '`output.headers` is not valid: it has'],
    ['{"name": "a", "output": {"headers": {"a": 5}}}', 'output.headers.a', '`output.headers.a` is not valid: it has'],
    ['{"name": "a", "nmae": 1}', 'nmae', 'There is no field `nmae`. Did you mean `name`?'],
    ['{"name": "a", "input": {}}', 'input.url', '`input.url` is missing; it is required.'],
    ['{"name": "a", "input": {"url": "b", "uri": "c"}}', 'input.uri', 'There is no field `input.uri`.'],
    ['{"name": "a", "input": {"__proto__": 1}}', 'input.__proto__', 'There is no field `input.__proto__`.'],
  ])('refuses %s with the path of the field', (body, param, message) => {
    expect(() => parseFields(schema, fromJson(body))).toThrow(
      expect.objectContaining({ code: 'bad_request', param, message: expect.stringContaining(message) }),
    );
  });

  it('names a required enumeration as missing', () => {
    const required = z.strictObject({ kind: z.enum(['a', 'b']) });
    expect(() => parseFields(required, {})).toThrow('`kind` is missing; it is required.');
  });

  it('returns the options as sent, also names that zod would drop', () => {
    const sent = fromJson('{"name": "a", "options": {"image": {"__proto__": 1}}}') as { options: object };
    expect(parseFields(schema, sent).options).toBe(sent.options);
  });
});

describe('checkJsonObject', () => {
  it.each([
    [null, 'The body is null'],
    [[], 'The body is a JSON array'],
    ['a', 'The body is a JSON string'],
    [{ a: ['\0'] }, 'contains the character U+0000'],
  ])('refuses %j', (value, message) => {
    expect(() => checkJsonObject(value)).toThrow(message);
  });
});
