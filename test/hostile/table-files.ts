/** Hostile tables. */
import type { HostileFile } from '#test/hostile/hostile-file.ts';

const to = (target: string) => ({ operation: 'convert', options: { convert: { to: target } } }) as const;
const MIB = 1024 ** 2;

/** Cells that a spreadsheet program could evaluate as formulas. */
const FORMULAS = [
  "=cmd|'/c calc'!A1",
  '+1+1',
  '-1',
  '@SUM(1)',
  '\tx',
  '=HYPERLINK("http://127.0.0.1/")',
  '0010',
  '1e400',
];

export const HOSTILE_TABLES: readonly HostileFile[] = [
  {
    name: 'a CSV of formulas, which stay text in an XLSX',
    filename: 'a.csv',
    bytes: () => Buffer.from(`a\n${FORMULAS.map((cell) => `"${cell.replaceAll('"', '""')}"`).join('\n')}\n`),
    ...to('xlsx'),
    ends: ['done'],
    result: async ({ bytes }) => {
      const { strFromU8, unzipSync } = await import('fflate');
      const sheet = strFromU8(unzipSync(bytes)['xl/worksheets/sheet1.xml'] ?? new Uint8Array());
      if (/<f[ >]/.test(sheet) || !sheet.includes('cmd|')) throw new Error(`cells became formulas: ${sheet}`);
    },
  },
  {
    name: 'a CSV of formulas, which stay as they are in a TSV',
    filename: 'a.csv',
    bytes: () => Buffer.from(`a,b\n${FORMULAS[0]},x\n${FORMULAS[1]},x\n`),
    ...to('tsv'),
    ends: ['done'],
    result: ({ bytes }) => {
      if (!bytes.toString().includes(`${FORMULAS[0]}\tx\n`)) throw new Error(bytes.toString());
    },
  },
  {
    name: 'a CSV of names without rows, which is no line of NDJSON',
    filename: 'a.csv',
    bytes: () => Buffer.from('a,b\n'),
    ...to('ndjson'),
    ends: ['done'],
    result: ({ bytes, result }) => {
      if (bytes.length !== 0 || result?.output_size !== 0) throw new Error(bytes.toString());
    },
  },
  {
    name: 'an HTML page in Japanese of seven bits',
    filename: 'a.html',
    bytes: () => Buffer.from('<meta charset=iso-2022-jp><table><tr><td>\x1b$BF|K\\\x1b(B</td></tr></table>', 'latin1'),
    ...to('csv'),
    ends: ['done'],
    result: ({ bytes }) => {
      if (bytes.toString().trim() !== '日本') throw new Error(bytes.toString());
    },
  },
  {
    name: 'a CSV of one cell of 60 MB',
    filename: 'a.csv',
    bytes: () => Buffer.alloc(60 * MIB, 'x'),
    ...to('json'),
    ends: ['limit_exceeded'],
    says: /more than \d+ characters/,
  },
  {
    name: 'a CSV of one quote that never ends',
    filename: 'a.csv',
    bytes: () => Buffer.concat([Buffer.from('a,b\n"'), Buffer.alloc(40 * MIB, 'x\n')]),
    ...to('json'),
    ends: ['limit_exceeded', 'processing_failed'],
  },
  {
    name: 'a CSV of five million columns',
    filename: 'a.csv',
    bytes: () => Buffer.alloc(5_000_000, ','),
    ...to('xlsx'),
    ends: ['limit_exceeded'],
    says: /columns; at most 16384/,
  },
  {
    name: 'a CSV of line ends only',
    filename: 'a.csv',
    bytes: () => Buffer.alloc(2 * MIB, '\n'),
    ...to('json'),
    ends: ['processing_failed'],
  },
  {
    name: 'a CSV that would be thousands of times its size as JSON',
    filename: 'a.csv',
    bytes: () =>
      Buffer.from(
        `${Array.from({ length: 4000 }, (_, index) => 'k'.repeat(500) + index).join(',')}\n${`${','.repeat(3999)}\n`.repeat(2500)}`,
      ),
    ...to('json'),
    ends: ['limit_exceeded'],
    says: /more than \d+ bytes/,
  },
  {
    name: 'a JSON table of arrays nested 100,000 deep',
    filename: 'a.json',
    bytes: () => Buffer.from(`[[${'['.repeat(100_000)}${']'.repeat(100_000)}]]`),
    ...to('csv'),
    ends: ['processing_failed', 'done'],
  },
  {
    name: 'a JSON table of objects nested 100,000 deep',
    filename: 'a.json',
    bytes: () => Buffer.from(`[${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}]`),
    ...to('csv'),
    ends: ['processing_failed', 'done'],
  },
  {
    name: 'a JSON table of numbers, characters and keys at the edge',
    filename: 'a.json',
    bytes: () =>
      Buffer.from(
        '[{"__proto__":"p","constructor":"c","n":1e400,"i":123456789012345678901234567890,"s":"\\ud800","z":"\\u0000","n":2}]',
      ),
    ...to('ndjson'),
    ends: ['done'],
    result: ({ bytes }) => {
      if (!bytes.includes('123456789012345678901234567890')) throw new Error(bytes.toString());
    },
  },
  {
    name: 'a JSON table of 100,000 columns',
    filename: 'a.json',
    bytes: () => Buffer.from(`[{${Array.from({ length: 100_000 }, (_, index) => `"k${index}":1`).join(',')}}]`),
    ...to('csv'),
    ends: ['limit_exceeded'],
  },
  {
    name: 'an HTML page that names addresses',
    filename: 'a.html',
    bytes: ({ url, fileUrl }) =>
      Buffer.from(
        `<base href="${url('base')}"><meta http-equiv="refresh" content="0;url=${url('refresh')}"><link rel="stylesheet" href="${url('style')}"><script src="${url('script')}"></script><table><tr><td><img src="${url('html.png')}"><iframe src="${fileUrl}"></iframe>seen</td></tr></table>`,
      ),
    ...to('csv'),
    ends: ['done'],
    result: ({ bytes }) => {
      if (bytes.toString().trim() !== 'seen') throw new Error(bytes.toString());
    },
  },
  {
    name: 'an HTML page of 100,000 tables nested',
    filename: 'a.html',
    bytes: () => Buffer.from(`${'<table><tr><td>'.repeat(100_000)}x${'</td></tr></table>'.repeat(100_000)}`),
    ...to('csv'),
    ends: ['processing_failed'],
    says: /nested more than 5000 deep/,
  },
  {
    name: 'an HTML table whose cells span a thousand million places',
    filename: 'a.html',
    bytes: () =>
      Buffer.from(`<table>${'<tr><td colspan=1000000000 rowspan=1000000000>x</td></tr>'.repeat(300)}</table>`),
    ...to('csv'),
    ends: ['limit_exceeded'],
  },
  {
    name: 'a Markdown line of 10 MB of bars',
    filename: 'a.md',
    bytes: () => Buffer.concat([Buffer.from('|a|\n|-|\n'), Buffer.alloc(10 * MIB, '|')]),
    ...to('csv'),
    ends: ['limit_exceeded', 'done', 'processing_failed'],
  },
  {
    name: 'a Markdown line of 10 MB of dashes and blanks',
    filename: 'a.md',
    bytes: () => Buffer.concat([Buffer.from('|a|\n|'), Buffer.alloc(10 * MIB, '- ')]),
    ...to('csv'),
    ends: ['limit_exceeded', 'done', 'processing_failed'],
  },
];
