import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { checkJsonObject, parseFields } from '#api/fields/parse-fields.ts';

const schema = z.strictObject({
  name: z.string(),
  size: z.int().min(1).optional(),
  input: z.strictObject({ url: z.string() }).optional(),
  options: z.looseObject({}).optional(),
});
const fromJson = (text: string): unknown => JSON.parse(text);

describe('parseFields', () => {
  it.each([
    ['{}', 'name', '`name` is missing; it is required.'],
    ['{"name": 5}', 'name', '`name` is not valid: it has to be a string.'],
    ['{"name": "a", "size": 0}', 'size', '`size` is not valid: the minimum is 1.'],
    ['{"name": "a", "nmae": 1}', 'nmae', 'There is no field `nmae`. Did you mean `name`?'],
    ['{"name": "a", "input": {}}', 'input.url', '`input.url` is missing; it is required.'],
    ['{"name": "a", "input": {"url": "b", "uri": "c"}}', 'input.uri', 'There is no field `input.uri`.'],
    ['{"name": "a", "input": {"__proto__": 1}}', 'input.__proto__', 'There is no field `input.__proto__`.'],
  ])('refuses %s with the path of the field', (body, param, message) => {
    expect(() => parseFields(schema, fromJson(body))).toThrow(
      expect.objectContaining({ code: 'bad_request', param, message: expect.stringContaining(message) }),
    );
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
