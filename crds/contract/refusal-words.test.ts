import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { refusedValue, requirementOf, suggestion, withArticle } from '#crds/contract/refusal-words.ts';

describe('a suggestion for a misspelt name', () => {
  const names = ['image.quality', 'pdf.quality', 'image.format', 'convert.to', 'operation'];

  it.each([
    ['image.qualty', ' Did you mean `image.quality`?'],
    ['quality', ' Did you mean `image.quality` or `pdf.quality`?'],
    ['opeartion', ' Did you mean `operation`?'],
    ['formta', ' Did you mean `image.format`?'],
    ['ot', ' Did you mean `convert.to`?'],
    ['Operation', ' Did you mean `operation`?'],
    ['to', ' Did you mean `convert.to`?'],
    ['something', ''],
    ['', ''],
    ['x'.repeat(100_000), ''],
  ])('of %.20s is "%s"', (name, expected) => expect(suggestion(name, names)).toBe(expected));
});

describe('the message about a refused value', () => {
  it.each([
    [z.int(), 'x', '`field` is `"x"`: it has to be a number.'],
    [z.object({}), 'https://name:secret@host/?signature=secret', '`field` is not valid: it has to be an object.'],
    [z.string(), { secret: 1 }, '`field` is not valid: it has to be a string.'],
    [z.string(), undefined, '`field` is missing; it is required.'],
  ])('names it unless it may be a secret (%#)', (schema, value, expected) => {
    const [issue] = z.safeParse(schema, value, { reportInput: true }).error?.issues ?? [];
    expect(issue && refusedValue('field', issue)).toBe(expected);
  });
});

describe('the requirement of a refused value', () => {
  it.each([
    [z.number().max(100), 101, 'the maximum is 100'],
    [z.number().gt(0), 0, 'it has to be above 0'],
    [z.int(), 1.5, 'it has to be a whole number'],
    [z.string().min(1), '', 'the minimum is 1 character'],
    [z.object({}), 1, 'it has to be an object'],
    [z.enum(['a', 'b']), 'c', 'it has to be one of a, b'],
    [z.string('not a name'), 1, 'not a name'],
  ])('is stated in words (%#)', (schema, value, expected) => {
    const [issue] = z.safeParse(schema, value).error?.issues ?? [];
    expect(issue && requirementOf(issue)).toBe(expected);
  });

  it('has the article of its word', () =>
    expect(['image', 'pdf', 'object'].map(withArticle)).toEqual(['an image', 'a pdf', 'an object']));
});
