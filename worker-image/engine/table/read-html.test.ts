import { describe, expect, it } from 'vitest';
import { MediaError } from '#crds/contract/media-error.ts';
import { LINE_CHARS } from '#worker-image/engine/table/displayed-text.ts';
import { readHtml } from '#worker-image/engine/table/read-html.ts';
import { MAX_ROW_CHARS } from '#worker-image/engine/table/table-row.ts';

/** Returns the number of rows that are read of a page in one piece, and the code of the error that ends it. */
async function readWhole(html: string): Promise<{ rows: number; code: unknown }> {
  let rows = 0;
  const open = async function* (): AsyncGenerator<string> {
    yield html;
  };
  try {
    for await (const _row of readHtml(open, () => {})) rows += 1;
  } catch (error) {
    return { rows, code: error instanceof MediaError ? error.code : error };
  }
  return { rows, code: null };
}

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
    [
      'cells before the first row',
      '<table><th>ID<th>Name<tr><td>1<td>Ada<tr><td>2<td>Bo</table>',
      [
        ['ID', 'Name'],
        ['1', 'Ada'],
        ['2', 'Bo'],
      ],
    ],
    [
      'rows without end tags below open elements',
      '<table><tr><td><p>a<td><b>b<tr><td><font>1<td>2</table>',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    [
      'lines of lists, sections and rules',
      table('<td>a<ul><li>b</ul>c<dl><dt>d<dd>e</dl><section>f</section>g<hr>h<address>i</address>'),
      [['a\nb\nc\nd\ne\nf\ng\nh\ni']],
    ],
    ['no table inside a template', `<template>${table('<td>x')}</template>${table('<td>a')}`, [['a']]],
  ])('reads %s', async (_what, html, rows) => {
    expect((await read(html)).rows).toEqual(rows);
  });

  it('reads the first table, with a warning for others', async () => {
    const { rows, warnings } = await read(`${table('<td>a')}${table('<td>b')}`);
    expect(rows).toEqual([['a']]);
    expect(warnings).toEqual([expect.stringContaining('2 tables')]);
  });

  it.each([
    ['row', '<tr style="color: red; DISPLAY : none"><td rowspan=3>x</tr>'],
    ['row without end tags', '<tr hidden><td><b>x'],
    ['group', '<tbody style="display:none !important"><tr><td>x</tbody><tbody>'],
    ['cell', '<tr><td hidden>x<td>1<td>2<td style="display:none"><table><tr><td>y</table>'],
  ])('reads no hidden %s, with a warning', async (_what, hidden) => {
    const { rows, warnings } = await read(`<table><tr><td>a<td>b${hidden}<tr><td>1<td>2</table>`);
    expect(new Set(rows.map((row) => row.join(' ')))).toEqual(new Set(['a b', '1 2']));
    expect(warnings).toEqual(['Rows or cells that the page does not display were not read.']);
  });

  it('reads no hidden row without text, as Excel writes at the end, without a warning', async () => {
    const excel = "<tr height=0 style='display:none'><td width=64 style='width:48pt'></td></tr>";
    expect(await read(`<table><tr><td style='mso-display:none'>a</td></tr>${excel}</table>`)).toEqual({
      rows: [['a']],
      warnings: [],
    });
  });

  it('yields each row before it parses the next one', async () => {
    const [wide, tooWide] = ['<td colspan=1000>'.repeat(16), '<td colspan=1000>'.repeat(17)];
    expect(await readWhole(table(wide, wide, tooWide))).toEqual({ rows: 2, code: 'limit_exceeded' });
  });

  it.each([
    ['cells', `<td>${'x'.repeat(MAX_ROW_CHARS / 2)}`.repeat(2)],
    ['line breaks', `<td>${'x'.repeat(MAX_ROW_CHARS - 2 * LINE_CHARS)}<br><br>`],
  ])('limits the length of a row of several %s', async (_what, row) => {
    expect(await readWhole(table('<td>a', row))).toEqual({ rows: 2, code: null });
    expect(await readWhole(table('<td>a', `${row}<td>x`))).toEqual({ rows: 1, code: 'limit_exceeded' });
  });

  it('reads blocks behind much whitespace in linear time', { timeout: 20_000 }, async () => {
    const blocks = '<p></p>'.repeat(200_000);
    expect(await readWhole(table(`<td>${' '.repeat(8_000_000)}${blocks}a`))).toEqual({ rows: 1, code: null });
  });

  it('refuses a page without a table', async () => {
    await expect(read('<p>none</p>')).rejects.toMatchObject({ code: 'processing_failed' });
  });
});
