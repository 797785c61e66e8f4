import { describe, expect, it } from 'vitest';
import { parseJsonRow } from '#worker-image/engine/table/json-row.ts';

describe('parseJsonRow', () => {
  it.each([
    ['[]', ['']],
    ['[1.50, -0, 1e400, 12345678901234567890]', ['1.50', '-0', '1e400', '12345678901234567890']],
    ['["a\\u00e9\\"", null, true]', ['aé"', '', 'true']],
    ['[ { "a" : [ 1 , "x y" ] } , [ ] ]', ['{"a":[1,"x y"]}', '[]']],
    ['["a,b]", "{:"]', ['a,b]', '{:']],
  ])('returns the cells of %s with numbers as written', (text, cells) => {
    expect(parseJsonRow(text, 'json')).toEqual({ cells });
  });

  it.each([
    ['{}', []],
    [
      '{"a": 1, "b": "x:y"}',
      [
        ['a', '1'],
        ['b', 'x:y'],
      ],
    ],
    ['{"a": 1, "a": 2}', [['a', '2']]],
    [
      '{"k\\n": {"n": [1, 2]}, "__proto__": 3}',
      [
        ['k\n', '{"n":[1,2]}'],
        ['__proto__', '3'],
      ],
    ],
  ])('returns the members of %s', (text, members) => {
    expect(parseJsonRow(text, 'json')).toEqual({ members: new Map(members as [string, string][]) });
  });

  it.each(['', '1', '"a"', '{"a": }', '[1,]', '{a: 1}', '[1] [2]'])('refuses %j', (text) => {
    expect(() => parseJsonRow(text, 'ndjson')).toThrow(expect.objectContaining({ code: 'processing_failed' }));
  });
});
