import { describe, expect, it } from 'vitest';
import { scanJsonRows } from '#worker-image/engine/table/json-rows-scanner.ts';
import { MAX_ROW_CHARS } from '#worker-image/engine/table/table-row.ts';

async function* pieces(text: string, length: number): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += length) yield text.slice(at, at + length);
}

async function rows(text: string, length = text.length): Promise<string[]> {
  const found: string[] = [];
  for await (const row of scanJsonRows(pieces(text, Math.max(1, length)))) found.push(row);
  return found;
}

describe('scanJsonRows', () => {
  // Promise, Direct endpoints: JSON and NDJSON tables: arrays of objects or of arrays, also under `data` or `rows`; one object per row is written
  it.each([
    ['[]', []],
    [' [ {"a": 1} ,\n[2] ] ', ['{"a": 1}', '[2]']],
    ['{"data": [{}]}', ['{}']],
    ['{"rows":[[1]], "total": 1.5e-3}', ['[1]']],
    ['{"meta": {"data": [1]}, "a": "[", "b": true, "c": null, "data": [{"b": 2}]}', ['{"b": 2}']],
    ['{"data": [[1]], "rows": [[2]]}', ['[1]']],
    ['[{"a": "}]\\"{", "b\\\\": [["]"]]}]', ['{"a": "}]\\"{", "b\\\\": [["]"]]}']],
    ['{"a\\"": 1, "data": [[3]]}', ['[3]']],
  ])('extracts the rows of %s, however the text is split', async (text, expected) => {
    for (const length of [text.length, 1, 2, 3, 7]) expect(await rows(text, length)).toEqual(expected);
  });

  it.each([
    ['', 'truncated'],
    ['[', 'truncated'],
    ['[{"a": 1}', 'truncated'],
    ['[{"a": "1}]', 'truncated'],
    ['{"data": [[1]]', 'truncated'],
    ['{}', 'no array'],
    ['{"Data": [[1]]}', 'no array'],
    ['"text"', 'unexpected'],
    ['[1]', 'neither'],
    ['[null]', 'neither'],
    ['[[1],]', 'neither'],
    ['[[1] [2]]', 'unexpected'],
    ['[[1]] x', 'unexpected'],
    ['{data: []}', 'unexpected'],
    ['{"a" 1}', 'unexpected'],
    ['{"a": }', 'unexpected'],
    ['{"a": 1 "data": []}', 'unexpected'],
    ['{"a": 1,}', 'unexpected'],
  ])('refuses %j, as it is %s', async (text, reason) => {
    await expect(rows(text, 1)).rejects.toMatchObject({
      code: 'processing_failed',
      message: expect.stringContaining(reason) as unknown,
    });
  });

  it('reads a row nested deeper than a stack', async () => {
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    expect((await rows(`[${deep}]`, 4096))[0]).toHaveLength(deep.length);
  });

  it('refuses a row that is too long before it holds all of it', async () => {
    let read = 0;
    const endless = async function* (): AsyncGenerator<string> {
      yield '[["';
      for (; read < 2 * MAX_ROW_CHARS; read += 2 ** 20) yield 'x'.repeat(2 ** 20);
    };
    const first = scanJsonRows(endless()).next();
    await expect(first).rejects.toMatchObject({ code: 'limit_exceeded' });
    expect(read).toBeLessThanOrEqual(MAX_ROW_CHARS);
  });
});
