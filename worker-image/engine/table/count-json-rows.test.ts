import { describe, expect, it } from 'vitest';
import { countJsonRows } from '#worker-image/engine/table/count-json-rows.ts';

const VALUES = String.raw`"a\"b":"\u00e9 日","10":""`;
const JSON_TEXT = `[\n{${VALUES}},\n{${VALUES}}\n]\n`;
const NDJSON_TEXT = `{${VALUES}}\n{${VALUES}}\n`;

async function count(format: 'json' | 'ndjson', text: string, step = Infinity): Promise<number> {
  const bytes = Buffer.from(text);
  const chunks = async function* (): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < bytes.length; at += step) yield bytes.subarray(at, Math.min(bytes.length, at + step));
  };
  return countJsonRows(format, chunks());
}

describe('countJsonRows', () => {
  it.each([
    ['json', JSON_TEXT, 2],
    ['ndjson', NDJSON_TEXT, 2],
    ['json', '[]\n', 0],
    ['ndjson', '', 0],
    ['json', '[\n{}\n]\n', 1],
  ] as const)('counts the rows of %s %j', async (format, text, rows) => {
    for (const step of [1, 2, 5, Infinity]) expect(await count(format, text, step)).toBe(rows);
  });

  it('refuses JSON that is truncated anywhere, and NDJSON that is not truncated at a line end', async () => {
    for (let end = 0; end < JSON_TEXT.length; end += 1)
      await expect(count('json', JSON_TEXT.slice(0, end))).rejects.toThrow('json');
    for (let end = 1; end < NDJSON_TEXT.length; end += 1)
      if (NDJSON_TEXT[end - 1] !== '\n')
        await expect(count('ndjson', NDJSON_TEXT.slice(0, end))).rejects.toThrow('ndjson');
  });

  it.each([
    ['a quote that is not escaped', '{"a":"b"c"}'],
    ['a line end in a text', '{"a":"b\nc"}'],
    ['a NUL in a text', '{"a":"b\0c"}'],
    ['an escape that JSON lacks', String.raw`{"a":"\x"}`],
    ['an incomplete code', String.raw`{"a":"\u12"}`],
    ['a number', '{"a":1}'],
    ['a key without a value', '{"a"}'],
    ['a comma too many', '{"a":"b",}'],
    ['two rows on a line', '{"a":"b"}{"a":"b"}'],
    ['whitespace', '{"a": "b"}'],
  ])('refuses %s', async (_name, row) => {
    await expect(count('ndjson', `${row}\n`)).rejects.toThrow('ndjson');
    await expect(count('json', `[\n${row}\n]\n`)).rejects.toThrow('json');
  });
});
