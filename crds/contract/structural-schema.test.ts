import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { structuralSchema } from '#crds/contract/structural-schema.ts';

const field = (schema: z.ZodType): unknown =>
  (structuralSchema(z.object({ field: schema }))['properties'] as { field: unknown }).field;

describe('structural schema', () => {
  it.each([
    ['a text gets a cap', z.string(), { type: 'string', maxLength: 1000 }],
    [
      'a text keeps its own cap and pattern',
      z.string().max(5).regex(/^a/),
      { type: 'string', maxLength: 5, pattern: '^a' },
    ],
    ['a whole number loses the bounds of JavaScript', z.int(), { type: 'integer', format: 'int64' }],
    [
      'a whole number keeps its own bounds',
      z.int().min(1).max(4),
      { type: 'integer', format: 'int64', minimum: 1, maximum: 4 },
    ],
    ['a time has the format alone', z.iso.datetime(), { type: 'string', format: 'date-time' }],
    ['a word of a list', z.enum(['a', 'b']), { type: 'string', enum: ['a', 'b'] }],
    [
      'a word of a list or null is a pattern',
      z.enum(['a', 'b']).nullable(),
      { nullable: true, type: 'string', maxLength: 1000, pattern: '^(a|b)$' },
    ],
    ['texts in several forms are a text', z.union([z.enum(['a']), z.string()]), { type: 'string', maxLength: 1000 }],
    ['a list gets a cap', z.array(z.boolean()), { type: 'array', maxItems: 100, items: { type: 'boolean' } }],
    [
      'a map gets a cap',
      z.record(z.string(), z.number()),
      { type: 'object', maxProperties: 64, additionalProperties: { type: 'number' } },
    ],
    [
      'a strict object allows unknown fields to be pruned',
      z.strictObject({ a: z.boolean() }),
      { type: 'object', required: ['a'], properties: { a: { type: 'boolean' } } },
    ],
    [
      'an optional field is not required',
      z.object({ a: z.boolean().optional() }),
      { type: 'object', required: [], properties: { a: { type: 'boolean' } } },
    ],
  ])('%s', (_sentence, schema, expected) => {
    expect(field(schema)).toEqual(expected);
  });

  it.each([
    [
      'a union of different types',
      z.union([z.string(), z.number()]),
      /\.field has values of different types: string, number/,
    ],
    ['a value of any type', z.unknown(), /\.field has no type/],
  ])('throws for %s with its path', (_what, schema, message) => {
    expect(() => field(schema)).toThrow(message);
  });
});
