import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { CONVERT_TARGETS, type Format } from '#crds/catalogue/formats.ts';
import { engineDeps, freshDirectory, runHandler, workOn } from '#test/fixtures/engine-work.ts';
import { makeTableFixtures, TABLE_ROWS } from '#test/fixtures/make-table-fixtures.ts';
import type { Produced } from '#worker-image/engine/handler.ts';
import { verifyOutput } from '#worker-image/engine/verify-output.ts';
import { tableHandler } from '#worker-image/engine/table/table-handler.ts';

const INPUTS = ['csv', 'tsv', 'json', 'ndjson', 'html', 'md'] as const;
const [HEADER = [], ...DATA] = TABLE_ROWS;
const OBJECTS = DATA.map((row) => Object.fromEntries(HEADER.map((name, index) => [name, row[index]])));

let directory = '';
let files = 0;

beforeAll(async () => {
  directory = await freshDirectory();
  await makeTableFixtures(directory);
});

async function produce(path: string, format: Format, to: string): Promise<Produced> {
  return runHandler(tableHandler, await workOn({ path, format, operation: 'convert', options: { convert: { to } } }));
}

async function convertFile(path: string, format: Format, to: string): Promise<string> {
  return (await produce(path, format, to)).path;
}

async function saved(format: Format, content: string | Buffer): Promise<string> {
  files += 1;
  const path = join(directory, `table-${files}.${format}`);
  await writeFile(path, content);
  return path;
}

/** Converts the content and returns the text of the result. */
async function convert(format: Format, content: string | Buffer, to: string): Promise<string> {
  return readFile(await convertFile(await saved(format, content), format, to), 'utf8');
}

async function warningsOf(format: Format, content: string | Buffer): Promise<readonly string[]> {
  return (await produce(await saved(format, content), format, 'csv')).warnings;
}

async function rowsOf(format: Format, content: string | Buffer): Promise<string[][]> {
  const lines = (await convert(format, content, 'ndjson'))
    .trim()
    .split('\n')
    .filter((line) => line !== '');
  return lines.map((line) => Object.values(JSON.parse(line) as Record<string, string>));
}

describe('a conversion of', () => {
  // Promise, Direct endpoints: Fonts change their container only; table cells are text
  it.each(INPUTS.flatMap((from) => INPUTS.map((to) => [from, to] as const)))(
    '%s to %s and then to JSON keeps every cell',
    async (from, to) => {
      const path = await convertFile(join(directory, `sample.${from}`), from, to);
      expect(JSON.parse(await readFile(await convertFile(path, to, 'json'), 'utf8'))).toEqual(OBJECTS);
    },
  );

  // Promise, Direct endpoints: Fonts change their container only; table cells are text
  it.each(INPUTS)('%s to a workbook writes cells that a spreadsheet program reads as text', async (from) => {
    const path = await convertFile(join(directory, `sample.${from}`), from, 'xlsx');
    const out = await freshDirectory();
    const csv = 'csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false';
    await engineDeps().run({
      file: 'soffice',
      args: [`-env:UserInstallation=file://${out}/profile`, '--headless', '--convert-to', csv, '--outdir', out, path],
      directory: out,
      signal: new AbortController().signal,
      timeoutSeconds: 60,
    });
    const text = await readFile(join(out, 'output.csv'), 'utf8');
    expect((await convert('csv', text, 'json')).trim()).toBe(
      (await readFile(await convertFile(join(directory, 'sample.csv'), 'csv', 'json'), 'utf8')).trim(),
    );
  });

  it('CSV writes all documented targets', async () => {
    for (const to of CONVERT_TARGETS.table)
      expect(await convertFile(join(directory, 'sample.csv'), 'csv', to)).toContain(`.${to}`);
  });
});

describe('random cells', () => {
  const cell = fc.oneof(
    fc.string(),
    fc.string({ unit: fc.constantFrom('a', ',', ';', '"', "'", '\t', '\n', '\r', '|', '\\', '<', '&', '{', '=', ' ') }),
  );
  const table = fc
    .integer({ min: 1, max: 4 })
    .chain((width) => fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 5 }));

  it.each(['csv', 'tsv', 'json', 'ndjson', 'html', 'md'] as const)(
    'are unchanged by a conversion to %s and back',
    async (format) => {
      // HTML and Markdown cannot represent NUL.
      const cells = (rows: string[][]): string[][] =>
        rows.map((row) => row.map((text) => (format === 'html' || format === 'md' ? text.replaceAll('\0', '') : text)));
      await fc.assert(
        fc.asyncProperty(table.map(cells), async (rows) => {
          const header = rows[0]?.map((_, index) => `h${index}`) ?? [];
          const source = [header, ...rows].map((row) => JSON.stringify(row)).join('\n');
          const written = await convert('ndjson', source, format);
          expect(await rowsOf(format, written)).toEqual(rows.map((row) => row.map((text) => text.toWellFormed())));
        }),
        { numRuns: 60 },
      );
    },
  );
});

describe('the reader of CSV', () => {
  it.each([
    ['semicolons and decimal commas', 'a;b\n1,5;2,5\n3,5;4\n'],
    ['tabs', 'a\tb\n1,5\t2,5\n3,5\t4\n'],
    ['bars', 'a|b\r\n1,5|2,5\r\n3,5|4\r\n'],
    ["Excel's first line", 'sep=;\na;b\n1,5;2,5\n3,5;4\n'],
    ['old line ends', 'a;b\r1,5;2,5\r3,5;4\r'],
    ['mixed line ends', 'a;b\r\n1,5;2,5\n3,5;4'],
    ['blank lines', '\na;b\n\n1,5;2,5\n3,5;4\n\n\n'],
  ])('reads a file with %s', async (_name, text) => {
    expect(await rowsOf('csv', text)).toEqual([
      ['1,5', '2,5'],
      ['3,5', '4'],
    ]);
  });

  it.each([
    ['UTF-8 with a mark', Buffer.from('\uFEFFname\nJürgen\n')],
    ['UTF-16 little-endian', Buffer.from('\uFEFFname\nJürgen\n', 'utf16le')],
    ['UTF-16 without a mark', Buffer.from('name\nJürgen\n', 'utf16le')],
    ['UTF-16 big-endian', Buffer.from('\uFEFFname\nJürgen\n', 'utf16le').swap16()],
    ['Windows-1252', Buffer.from('name\nJ\xfcrgen\n', 'latin1')],
  ])('reads a file in %s', async (_name, bytes) => {
    expect(await convert('csv', bytes, 'ndjson')).toBe('{"name":"Jürgen"}\n');
  });

  it.each([
    ['two numbers in a row', '2024-01-01;12,5;3,7\n2024-01-02;13,5;4,7\n', ['2024-01-02', '13,5', '4,7']],
    ['numbers alone', '1,5;2,5;3,5\n4,5;5,5;6,5\n', ['4,5', '5,5', '6,5']],
    ['names', '1;Doe, John\n2;Roe, Jane\n', ['2', 'Roe, Jane']],
    ['units', 'Tag;Temp (°C, außen);Druck (hPa, rel)\n1;12,5;1013,2\n', ['1', '12,5', '1013,2']],
    ['names, by tabs', '1\tDoe, John\n2\tRoe, Jane\n', ['2', 'Roe, Jane']],
  ])('splits by semicolons or tabs when every row has commas in %s', async (_name, text, cells) => {
    expect(await rowsOf('csv', text)).toEqual([cells]);
  });

  it.each([
    ['more commas than semicolons', 'a,b,c;d\n1,2,3;4\n', ['1', '2', '3;4']],
    ['commas and digits alone', '1,2,3\n4,5,6\n', ['4', '5', '6']],
    ['semicolons below its header', 'id,tags\n1,red;blue\n', ['1', 'red;blue']],
  ])('splits by commas a file with %s', async (_name, text, cells) => {
    expect(await rowsOf('csv', text)).toEqual([cells]);
  });

  it.each([
    ['csv', 'name\nAda\n\nGrace\n""\n'],
    ['tsv', 'name\r\nAda\r\n\r\nGrace\r\n\r\n'],
  ] as const)('reads an empty line of a %s table with one column as an empty cell', async (format, text) => {
    expect(await rowsOf(format, text)).toEqual([['Ada'], [''], ['Grace'], ['']]);
  });

  it.each([
    ['a bar in one cell', 'note\nred\nblue|green\ngrey\n'],
    ['a semicolon in one cell of two', 'note\nred; blue\n'],
    ['tabs in half of its cells', 'note\nred\tblue\ngreen\tgrey\npink\n'],
  ])('reads one column from a file with %s', async (_name, text) => {
    expect(await rowsOf('csv', text)).toEqual(
      text
        .trim()
        .split('\n')
        .slice(1)
        .map((line) => [line]),
    );
  });

  it.each([
    ['after lines of a title', 'Report\n\na;b\n1;2\n3;4\n'],
    ['in rows of different lengths', 'a;b;c\n1;2\n3;4;5;6\n7;8\n9;10;11\n'],
    ['in a single row', 'a;b'],
  ])('splits by semicolons %s', async (_name, text) => {
    const cells = text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.replaceAll(';', ','));
    expect(
      (await convert('csv', text, 'csv'))
        .trim()
        .split('\n')
        .map((line) => line.replace(/,*$/, '')),
    ).toEqual(cells);
  });

  it('ignores an empty line of a wider table', async () => {
    expect(await rowsOf('csv', 'a,b\n\n1,2\n\n')).toEqual([['1', '2']]);
  });

  it('keeps quotes inside of a cell', async () => {
    expect(await rowsOf('csv', 'a,b\n5" pipe,"x"\n')).toEqual([['5" pipe', 'x']]);
  });

  it.each([
    ['an open quote', 'a,b\n1,"open\n2,3\n'],
    ['no rows', '\n\n'],
  ])('refuses %s', async (_name, text) => {
    await expect(convert('csv', text, 'json')).rejects.toMatchObject({ code: 'processing_failed' });
  });
});

describe('the reader of JSON', () => {
  // Promise, Direct endpoints: JSON and NDJSON tables: arrays of objects or of arrays, also under `data` or `rows`; one object per row is written
  it.each([
    ['an array of arrays', '[["a","b"],["1",2]]'],
    ['an array of objects', '[{"a":"1","b":2}]'],
    ['data', '{"count": 1, "more": {"data": [[9]]}, "data": [{"a":"1","b":2}], "s": "]}"}'],
    ['rows', ' {"rows" : [ ["a","b"] , ["1" , 2] ] , "n": null} '],
  ])('reads rows from %s', async (_name, text) => {
    expect(await convert('json', text, 'csv')).toBe('a,b\n1,2\n');
  });

  it('keeps the notation of numbers and the text of nested values, and reads all keys', async () => {
    const text =
      '[{"n":1.10,"big":12345678901234567890},{"n":1e400,"list":[1, {"a b": "c d"}],"gone":null,"yes":true}]';
    expect(await convert('json', text, 'tsv')).toBe(
      'n\tbig\tlist\tgone\tyes\n1.10\t12345678901234567890\t\t\t\n1e400\t\t"[1,{""a b"":""c d""}]"\t\ttrue\n',
    );
  });

  it('reads the last of equal keys, and keeps the order of keys that objects would reorder', async () => {
    expect(await convert('json', '[{"b":1,"10":2,"__proto__":3,"b":4}]', 'json')).toBe(
      '[\n{"b":"4","10":"2","__proto__":"3"}\n]\n',
    );
  });

  it('reads values that span pieces of the file', async () => {
    const rows = Array.from({ length: 20_000 }, (_, index) => ({
      id: `${index}`,
      text: `a "quoted" \\ text ${'ü'.repeat(index % 50)}`,
    }));
    expect(
      JSON.parse(await convert('json', JSON.stringify({ skipped: 'x'.repeat(300_000), data: rows }), 'json')),
    ).toEqual(rows);
  });

  it.each([
    ['columns of pandas', '{"columns":["a","b"],"index":[0],"data":[[1,2]]}', 'a,b\n1,2\n'],
    ['columns of pandas without names', '{"columns":[0,1],"index":[0],"data":[[1,2]]}', '0,1\n1,2\n'],
    ['columns behind the rows', '{"rows":[[1,2],[3,4]],"columns":["a","b"]}', 'a,b\n1,2\n3,4\n'],
    ['meta of ClickHouse', '{"meta":[{"name":"a","type":"UInt8"},{"name":"b]"}],"data":[[1,2]]}', 'a,b]\n1,2\n'],
    ['fields of PostgreSQL', '{"rows":[[1,2]],"fields":[{"name":"a"},{"name":"b"}]}', 'a,b\n1,2\n'],
    ['meta of Socrata', '{"meta":{"view":{"columns":[{"name":"a"},{"name":"b"}]}},"data":[[1,2]]}', 'a,b\n1,2\n'],
    ['no columns of objects', '{"meta":[{"name":"a"},{"name":"b"}],"data":[{"c":1,"d":2}]}', 'c,d\n1,2\n'],
    ['no columns of another number', '{"columns":["a"],"data":[["x","y"],[1,2]]}', 'x,y\n1,2\n'],
    ['no columns that are not names', '{"columns":[["a"],null],"meta":"]","fields":{},"data":[["x","y"]]}', 'x,y\n'],
  ])('reads the names in %s', async (_name, text, rows) => {
    expect(await convert('json', text, 'csv')).toBe(rows);
  });

  it('reads rows behind a member that is too long to list the names', async () => {
    const text = `{"meta":["${'x'.repeat(17 * 1024 ** 2)}"],"columns":["a","b"],"data":[[1,2]]}`;
    expect(await convert('json', text, 'csv')).toBe('a,b\n1,2\n');
  });

  it('reads one value per line, with a warning', async () => {
    const text = '{"a":1,"b":{"c":2}}\n{"a":3,"d":4}\n';
    expect(await convert('json', text, 'csv')).toBe('a,b,d\n1,"{""c"":2}",\n3,,4\n');
    expect(await warningsOf('json', text)).toEqual([expect.stringContaining('read as NDJSON')]);
  });

  it('refuses one value per line that has rows, with the name that it needs', async () => {
    await expect(convert('json', '{"data":[{"a":1}]}\n{"data":[{"a":2}]}\n', 'csv')).rejects.toThrow(
      'name the file .ndjson',
    );
  });

  it('reads NDJSON that is an array of rows, with a warning', async () => {
    const text = ' [{"a":"1","b":2},{"a":"3","b":4}]\n';
    expect(await convert('ndjson', text, 'csv')).toBe('a,b\n1,2\n3,4\n');
    expect(await warningsOf('ndjson', text)).toEqual([expect.stringContaining('read as JSON')]);
    expect(await convert('ndjson', '[[1],2]\n[[3],4]\n', 'csv')).toBe('[1],2\n[3],4\n');
  });

  it.each([
    ['a number', '5'],
    ['a list of numbers', '[1,2]'],
    ['an object without rows', '{"a":[1]}'],
    ['a missing comma', '[{"a":1} {"a":2}]'],
    ['a comma too many', '[{"a":1},]'],
    ['an early end', '[{"a":1},{"a":'],
    ['rows of two kinds', '[{"a":1},[1]]'],
    ['rows of two kinds in the other order', '[[1],{"a":1}]'],
    ['text after it', '[{"a":1}] x'],
    ['a bare word', '[{"a":NaN}]'],
    ['no rows', '[]'],
  ])('refuses %s', async (_name, text) => {
    await expect(convert('json', text, 'csv')).rejects.toMatchObject({ code: 'processing_failed' });
  });

  it('reads deeply nested values', async () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    expect(await convert('json', `[["deep"],[${deep}]]`, 'csv')).toBe(`deep\n${deep}\n`);
  });

  // Promise, Direct endpoints: JSON and NDJSON tables: arrays of objects or of arrays, also under `data` or `rows`; one object per row is written
  it.each([
    ['arrays', '["a","b"]\n["1",2]\n'],
    ['objects', '{"a":"1","b":2}\n\n'],
  ])('reads NDJSON of %s', async (_name, text) => {
    expect(await convert('ndjson', text, 'csv')).toBe('a,b\n1,2\n');
  });
});

describe('the writer of JSON', () => {
  // Promise, Direct endpoints: JSON and NDJSON tables: arrays of objects or of arrays, also under `data` or `rows`; one object per row is written
  it('names columns with empty or repeated names, and cells beyond the first row', async () => {
    expect(await convert('csv', 'a,,a,a\n1,2,3,4,5\n6\n', 'ndjson')).toBe(
      '{"a":"1","column_2":"2","a_2":"3","a_3":"4","column_5":"5"}\n{"a":"6","column_2":"","a_2":"","a_3":""}\n',
    );
  });

  it('writes an empty array for column names without rows', async () => {
    expect(await convert('csv', 'a,b\n', 'json')).toBe('[]\n');
  });

  it('writes no line of NDJSON for column names without rows', async () => {
    expect(await convert('csv', 'a,b\n', 'ndjson')).toBe('');
  });
});

describe('the reader of HTML', () => {
  it('reads the first table, with spans, and nested tables and markup as text', async () => {
    const page = `<base href="http://127.0.0.1:1/"><p>x<table><tr><th colspan=2>a</th><th>b</th></tr>
      <tr><td rowspan=2>1</td><td> two <b>wor</b>ds<br>more </td><td><table><tr><td>in</td><td>side</td></tr></table></td></tr>
      <tr><td>3<script>alert(1)</script></td><td><img src="http://127.0.0.1:1/x">&eacute;</td></tr></table><table><tr><td>other</table>`;
    expect(await convert('html', page, 'csv')).toBe('a,,b\n1,"two words\nmore","in\nside"\n,3,é\n');
  });

  it('lets a cell with rowspan=0 span the rest of its row group, and no cell more than the group', async () => {
    const groups =
      '<thead><tr><th rowspan=9>a<th>b</thead><tbody><tr><td rowspan=0>1<td>2<tr><td>3<tr><td>4<tbody><tr><td>5<td>6';
    expect(await convert('html', `<table>${groups}</table>`, 'csv')).toBe('a,b\n1,2\n,3\n,4\n5,6\n');
  });

  it('reads the first table of a page that is nested too deeply after it', async () => {
    const deep = '<div>'.repeat(200_000);
    expect(await convert('html', `<table><tr><td>a</td></tr></table>${deep}`, 'csv')).toBe('a\n');
  });

  it('keeps whitespace that the page displays, and begins a line at each block', async () => {
    const cells =
      '<td>a  b</td><td style="color:red; white-space: pre-wrap"> a  b\n c </td><td><pre>x  y\nz</pre>w</td>';
    const blocks = '<td><p>a</p><p>b</p>c<br><br>d</td>';
    const page = `<table><tr><td>1<td>2<td>3<td>4</tr><tr>${cells}${blocks}</tr></table>`;
    expect(await rowsOf('html', page)).toEqual([['a b', ' a  b\n c ', 'x  y\nz\nw', 'a\nb\nc\n\nd']]);
  });

  it.each([
    ['<meta charset="windows-1251">', Buffer.from([0xcc, 0xe8, 0xf0]), 'Мир'],
    [
      '<META http-equiv=Content-Type content="text/html; charset=Shift_JIS">',
      Buffer.from([0x93, 0xfa, 0x96, 0x7b]),
      '日本',
    ],
    ['<meta charset=iso-2022-jp>', Buffer.from('\x1b$BF|K\\\x1b(B', 'latin1'), '日本'],
    ['<meta charset="iso-8859-1">', Buffer.from('日本'), '日本'],
    ['<!-- <meta charset="koi8-r"> --><meta charset="utf-16">', Buffer.from('日本'), '日本'],
    ['<meta charset="no-such">', Buffer.from([0xe9]), 'é'],
  ])('reads a page in the encoding of %s', async (meta, cell, shown) => {
    const page = Buffer.concat([Buffer.from(`${meta}<table><tr><td>`), cell, Buffer.from('</td></tr></table>')]);
    expect(await convert('html', page, 'csv')).toBe(`${shown}\n`);
  });

  it('reads no table inside a template', async () => {
    const row = (text: string): string => `<tr><td>${text}</td></tr>`;
    const template = `<template><table>${row('hidden')}</table></template>`;
    const page = `${template}<table>${row('a')}<template>${row('b')}</template></table>${template}`;
    expect(await convert('html', page, 'csv')).toBe('a\n');
    expect(await warningsOf('html', page)).toEqual([]);
  });

  it('refuses a page without a table', async () => {
    await expect(convert('html', '<p>no table</p>', 'csv')).rejects.toMatchObject({ code: 'processing_failed' });
  });
});

describe('the reader and writer of Markdown', () => {
  it('read the first table outside of code', async () => {
    const page = '```\n| x |\n|---|\n| y |\n```\n\na | b\n:--|--:\n`c` | d\\|e\n1\n\n| other |\n|---|\n';
    expect(await convert('md', page, 'csv')).toBe('a,b\n`c`,"d|e"\n1\n');
  });

  it('escape syntax in cells', async () => {
    expect(await convert('csv', 'first_name,x\n_a_,"*b*\n<i>"\n', 'md')).toBe(
      '| first_name | x |\n| --- | --- |\n| \\_a\\_ | \\*b\\*<br>\\<i> |\n',
    );
  });

  it('resolve character references', async () => {
    const text = '| a | b |\n|---|---|\n| &amp;&lt;x&gt; &copy | &#32;&#x41;&nbsp; |\n';
    expect(await rowsOf('md', text)).toEqual([['&<x> &copy', ' A\u00a0']]);
  });

  it('refuse a text without a table', async () => {
    await expect(convert('md', '# no table\n\na | b\n', 'csv')).rejects.toMatchObject({ code: 'processing_failed' });
  });
});

describe('a warning', () => {
  const guessed = [expect.stringMatching(/^The text is not UTF-8 .* read as Windows-1252/)];
  const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');

  it.each([
    ['csv', latin1('name\nJ\xfcrgen\n')],
    ['csv', latin1(`name\n${'ASCII\n'.repeat(100_000)}J\xfcrgen\n`)],
    ['tsv', latin1('name\tn\nJ\xfcrgen\t1\n')],
    ['json', latin1('[{"name":"J\xfcrgen"}]')],
    ['html', latin1('<table><tr><td>J\xfcrgen</table>')],
    ['md', latin1('| J\xfcrgen |\n| --- |\n')],
  ] as const)('reports once that the encoding of a %s is guessed', async (format, bytes) => {
    expect(await warningsOf(format, bytes)).toEqual(guessed);
  });

  it.each([
    ['csv', 'in ASCII', Buffer.from('name\nJurgen\n')],
    ['csv', 'in UTF-8', Buffer.from('name\nJürgen\n')],
    ['csv', 'in UTF-16', Buffer.from('\uFEFFname\nJürgen\n', 'utf16le')],
    ['html', 'that names its encoding', latin1('<meta charset=latin1><table><tr><td>J\xfcrgen</table>')],
    ['html', 'with a table inside of another', '<table><tr><td><table><tr><td>a</table></table>'],
    ['md', 'with a second table in code', '| a |\n|---|\n```\n| b |\n|---|\n```\n'],
  ] as const)('is not returned for a %s %s', async (format, _name, content) => {
    expect(await warningsOf(format, content)).toEqual([]);
  });

  it.each([
    ['html', '<table><tr><td>menu</table><table><tr><td><table><tr><td>a</table></table>', 2],
    ['html', `<table><tr><td>a</table>${' '.repeat(300_000)}<table></table><p><table></table>`, 3],
    ['md', '| a |\n|---|\n| 1 |\n\n| b |\n|---|\n| 2 |\n\n# c\n| d |\n|---|\n', 3],
  ] as const)('reports the number of tables in a file of %s', async (format, content, tables) => {
    expect(await warningsOf(format, content)).toEqual([`The file has ${tables} tables: the first was read.`]);
  });
});

describe('verification', () => {
  const csv = `id,name\n${Array.from({ length: 30_000 }, (_, row) => `${row},"Name ""${row}"" é"\n`).join('')}`;

  it.each(
    CONVERT_TARGETS.table.flatMap((to) =>
      (['truncated', 'extended', 'corrupted in one bit', 'empty'] as const).map((damage) => [to, damage] as const),
    ),
  )('refuses a result of %s that is %s', async (to, damage) => {
    const work = await workOn({
      path: await saved('csv', csv),
      format: 'csv',
      operation: 'convert',
      options: { convert: { to } },
    });
    const produced = await runHandler(tableHandler, work);
    const bytes = await readFile(produced.path);
    await writeFile(produced.path, damaged(bytes, damage));
    const file = { handler: tableHandler, work, facts: {} };
    await expect(verifyOutput(engineDeps(), file, produced)).rejects.toThrow(/output/);
  });

  // Of a result that the handler has not written, only the rows are known.
  it.each(['json', 'ndjson', 'csv', 'tsv', 'xlsx'] as const)(
    'refuses a result of %s with another number of rows than the input',
    async (to) => {
      const work = await workOn({
        path: await saved('csv', csv),
        format: 'csv',
        operation: 'convert',
        options: { convert: { to } },
      });
      const shorter = await produce(
        await saved('csv', csv.slice(0, csv.lastIndexOf('\n', csv.length - 2) + 1)),
        'csv',
        to,
      );
      await expect(tableHandler.verify(engineDeps(), work, {}, { ...shorter })).rejects.toThrow(
        'the output has 30000 rows, the input 30001',
      );
    },
  );
});

function damaged(bytes: Buffer, damage: 'truncated' | 'extended' | 'corrupted in one bit' | 'empty'): Buffer {
  const middle = bytes.length >> 1;
  switch (damage) {
    case 'truncated':
      return bytes.subarray(0, middle);
    case 'extended':
      return Buffer.concat([bytes, Buffer.from('\n')]);
    case 'corrupted in one bit':
      bytes[middle] = (bytes[middle] ?? 0) ^ 1;
      return bytes;
    case 'empty':
      return Buffer.alloc(0);
  }
}

describe('limits', () => {
  it.each([
    ['csv', 'more columns than are read', ','.repeat(20_000), 'json'],
    [
      'json',
      'more keys than are read',
      JSON.stringify([Object.fromEntries(Array.from({ length: 17_000 }, (_, index) => [`k${index}`, 1]))]),
      'csv',
    ],
    ['html', 'more columns by spans', `<table><tr>${'<td colspan=1000>'.repeat(20)}</table>`, 'csv'],
    ['csv', 'a cell longer than the maximum of Excel', `a\n${'x'.repeat(32_768)}\n`, 'xlsx'],
    ['csv', 'more rows than the maximum of Excel', 'a\n'.repeat(1_048_577), 'xlsx'],
    ['csv', 'a quoted cell without end', `a,"${'x'.repeat(17 * 1024 ** 2)}"`, 'json'],
    ['ndjson', 'a line without end', `{"a":"${'x'.repeat(17 * 1024 ** 2)}"}`, 'csv'],
  ] as const)('refuse %s with %s', async (format, _name, text, to) => {
    await expect(convert(format, text, to)).rejects.toMatchObject({ code: 'limit_exceeded' });
  });

  it.each([
    ['md', `|${'|'.repeat(10_000_000)}\n`],
    ['md', `| a |\n|---|\n|${'\\'.repeat(10_000_000)}|\n`],
    ['html', '<table>'.repeat(200_000)],
    ['html', `<table><tr><td>${' \n'.repeat(5_000_000)}x</table>`],
  ] as const)('let a hostile %s end in linear time', { timeout: 20_000 }, async (format, text) => {
    await convert(format, text, 'csv').catch((error: unknown) => expect(error).toMatchObject({ name: 'MediaError' }));
  });
});
