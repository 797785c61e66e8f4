import { describe, expect, it } from 'vitest';
import { readHtml } from '#worker-image/engine/table/read-html.ts';

async function read(html: string): Promise<{ rows: (readonly string[])[]; warnings: string[] }> {
  const [rows, warnings]: [(readonly string[])[], string[]] = [[], []];
  const open = async function* (): AsyncGenerator<string> {
    for (const char of html.match(/.{1,7}/gs) ?? []) yield char;
  };
  for await (const row of readHtml(open, (warning) => void warnings.push(warning))) rows.push(row);
  return { rows, warnings };
}

const table = (...rows: readonly string[]): string => `<table>${rows.map((row) => `<tr>${row}</tr>`).join('')}</table>`;

describe('readHtml', () => {
  it.each([
    [
      'cells',
      table('<th>a<th>b', '<td>1</td><td>2</td>'),
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    [
      'spans',
      table('<td rowspan=2>a<td>b', '<td>c'),
      [
        ['a', 'b'],
        ['', 'c'],
      ],
    ],
    ['character references and line breaks', table('<td>a&amp;b<br>c'), [['a&b\nc']]],
    ['no script, style or template', table('<td>a<script>b</script><style>c</style><template>d</template>'), [['a']]],
    ['no table inside a template', `<template>${table('<td>x')}</template>${table('<td>a')}`, [['a']]],
  ])('reads %s', async (_what, html, rows) => {
    expect((await read(html)).rows).toEqual(rows);
  });

  it('reads the first table, with a warning for others', async () => {
    const { rows, warnings } = await read(`${table('<td>a')}${table('<td>b')}`);
    expect(rows).toEqual([['a']]);
    expect(warnings).toEqual([expect.stringContaining('2 tables')]);
  });

  it('refuses a page without a table', async () => {
    await expect(read('<p>none</p>')).rejects.toMatchObject({ code: 'processing_failed' });
  });
});
