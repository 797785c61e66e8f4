import { CsvError } from 'csv-parse';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DelimitedScanner } from '#worker-image/engine/table/delimited-scanner.ts';
import { MAX_COLUMNS, MAX_ROW_CHARS } from '#worker-image/engine/table/table-row.ts';

interface Options {
  readonly delimiter?: string;
  readonly keepsEmptyLines?: boolean;
  readonly allowsStrayQuotes?: boolean;
  /** Number of bytes that are written at a time. */
  readonly step?: number;
}

/** Returns the rows, or null when a quote is not closed. */
function scan(
  text: string,
  { delimiter = ',', keepsEmptyLines = false, allowsStrayQuotes = false, step = Infinity }: Options = {},
): string[][] | null {
  const scanner = new DelimitedScanner({ delimiter, keepsEmptyLines, allowsStrayQuotes });
  const bytes = Buffer.from(text);
  const rows: string[][] = [];
  for (let at = 0; at < bytes.length; at += step)
    for (const batch of scanner.write(bytes.subarray(at, Math.min(bytes.length, at + step))))
      for (let row = 0; row < batch.rows; row += 1) rows.push(batch.textsOf(row));
  const last = scanner.end();
  let next = last.next();
  for (; next.done !== true; next = last.next())
    for (let row = 0; row < next.value.rows; row += 1) rows.push(next.value.textsOf(row));
  return next.value ? rows : null;
}

describe('DelimitedScanner', () => {
  it.each([
    ['line ends of each kind', 'a,b\r\n1,2\r3,4\n5,6', ['a|b', '1|2', '3|4', '5|6']],
    ['empty cells', ',a,\n,,\n', ['|a|', '||']],
    ['empty lines', '\n\r\na\n\n\rb\n\n', ['a', 'b']],
    ['a quoted empty line', '""\na\n', ['', 'a']],
    ['delimiters and line ends in quotes', '"a,b","c\r\nd"\n', ['a,b|c\r\nd']],
    ['doubled quotes', '"a""b","""","""a"""\n', ['a"b|"|"a"']],
    ['quotes inside of a cell', '5" pipe,a"b"c\n', ['5" pipe|a"b"c']],
    ['text behind a closing quote', '"a"b,"a""b"c"d\n', ['"a"b|"a"b"c"d']],
    ['NUL behind a closing quote', '"a"\0b,""\0"\n', ['a\0b|\0"']],
    ['characters of several bytes', '"é""日",😀\n', ['é"日|😀']],
  ])('reads %s, whatever the pieces', (_name, text, rows) => {
    for (const step of [1, 2, 3, Infinity]) expect(scan(text, { step })?.map((row) => row.join('|'))).toEqual(rows);
  });

  it('reads an empty line as a cell on request, but none behind the last line end', () => {
    expect(scan('a\n\nb\n\n', { keepsEmptyLines: true })).toEqual([['a'], [''], ['b'], ['']]);
  });

  it('finds a quote that is not closed', () => {
    expect([scan('a\n"b'), scan('a\n"b""\n'), scan('"')]).toEqual([null, null, null]);
  });

  it('reads rows of many pieces and more rows than a batch holds', () => {
    const long = 'x""y\n'.repeat(30_000);
    const text = `"${long}",1\n`.repeat(3) + 'a,b\n'.repeat(50_000);
    const rows = scan(text, { step: 7001 }) ?? [];
    expect(rows.length).toBe(50_003);
    expect(rows[2]).toEqual([long.replaceAll('""', '"'), '1']);
    expect(rows.at(-1)).toEqual(['a', 'b']);
  });

  it('refuses rows with too many columns or characters', () => {
    expect(scan(','.repeat(MAX_COLUMNS - 1))?.[0]?.length).toBe(MAX_COLUMNS);
    expect(() => scan(','.repeat(MAX_COLUMNS))).toThrow(`${MAX_COLUMNS + 1} columns`);
    expect(() => scan('x'.repeat(MAX_ROW_CHARS + 1))).toThrow('characters');
    expect(() => scan(`"${'x'.repeat(MAX_ROW_CHARS + 1)}`)).toThrow('characters');
  });

  it('refuses rows without end before it holds much of them', () => {
    const hold = (start: string, piece: string): void => {
      const scanner = new DelimitedScanner({ delimiter: ',', keepsEmptyLines: false, allowsStrayQuotes: false });
      for (const text of [start, ...Array.from({ length: 200 }, () => piece)])
        expect([...scanner.write(Buffer.from(text))]).toEqual([]);
    };
    expect(() => hold('"', 'x'.repeat(1024 ** 2))).toThrow('characters');
    expect(() => hold('', ','.repeat(1024 ** 2))).toThrow('columns');
  });

  it('reads random text as csv-parse does', () => {
    const unit = fc.constantFrom('a', 'é', ',', ';', '"', '""', '\n', '\r', '\r\n', ' ', '\0');
    fc.assert(
      fc.property(
        fc.string({ unit, maxLength: 40 }),
        fc.boolean(),
        fc.nat({ max: 8 }),
        (text, keepsEmptyLines, step) => {
          expect(scan(text, { keepsEmptyLines, step: step + 1 })).toEqual(parsed(text, keepsEmptyLines));
        },
      ),
      { numRuns: 2000 },
    );
  });
});

describe('DelimitedScanner with stray quotes', () => {
  const options = { delimiter: '\t', allowsStrayQuotes: true };

  it.each([
    ['before other text', 't1\t"Rome\nt2\tB\nt3\t"C" x\n', ['t1|"Rome', 't2|B', 't3|"C" x']],
    ['before a quoted cell', '"a\tb\n"c"\td\n', ['"a|b', 'c|d']],
    ['in one line', '"a\t"b" c\n', ['"a|"b" c']],
    ['that are never closed', 'a\t"b\n1\t2', ['a|"b', '1|2']],
    ['at the end', 'a\t"', ['a|"']],
    ['before doubled quotes', '"a\n""b"" c\n""\n', ['"a', '""b"" c', '']],
    ['that are none', '"a\tb\nc"\t"d""e"\n"f"g\n', ['a\tb\nc|d"e', '"f"g']],
  ])('reads quotes %s, whatever the pieces', (_name, text, rows) => {
    for (const step of [1, 2, 3, Infinity])
      expect(scan(text, { ...options, step })?.map((row) => row.join('|'))).toEqual(rows);
  });

  it('adds no empty line behind a quote that is not closed', () => {
    expect(scan('"a\nb\n', { ...options, keepsEmptyLines: true })).toEqual([['"a'], ['b']]);
  });

  it('reads random text as a reader of the whole text does', () => {
    const unit = fc.constantFrom('a', '\t', '"', '""', '\n', '\r', '\r\n');
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 40 }), fc.boolean(), fc.nat(8), (text, keepsEmptyLines, step) => {
        const rows = scan(text, { ...options, keepsEmptyLines, step: step + 1 });
        expect(rows).toEqual(
          rowsWithStrayQuotes(text)
            .filter((row) => keepsEmptyLines || row !== null)
            .map(textsOf),
        );
      }),
      { numRuns: 2000 },
    );
  });

  it('reads 100 MB with a quote in each row in linear time and bounded memory', { timeout: 60_000 }, () => {
    const scanner = new DelimitedScanner({ ...options, keepsEmptyLines: false });
    const piece = Buffer.from('"a\tb\n""\t"c""\n'.repeat(16_384));
    let rows = 0;
    for (const text of [Buffer.from('"'), ...Array.from({ length: 400 }, () => piece)])
      for (const batch of scanner.write(text)) rows += batch.rows;
    for (const batch of scanner.end()) rows += batch.rows;
    expect(rows).toBe(400 * 2 * 16_384);
  });

  it('reads a quote that is not closed within the maximum length of a row', { timeout: 60_000 }, () => {
    const scanner = new DelimitedScanner({ ...options, keepsEmptyLines: false });
    const piece = Buffer.from('a\tb\n'.repeat(64 * 1024));
    let rows = 0;
    for (let pieces = 0; rows === 0; pieces += 1) {
      expect(pieces * piece.length).toBeLessThan(5 * MAX_ROW_CHARS);
      if (pieces === 0) expect([...scanner.write(Buffer.from('"'))]).toEqual([]);
      for (const batch of scanner.write(piece)) rows += batch.rows;
    }
    expect(rows).toBeGreaterThan(MAX_ROW_CHARS / 4);
  });
});

type OptionalRow = readonly string[] | null;

function textsOf(row: OptionalRow): readonly string[] {
  return row ?? [''];
}

/** Returns the rows of TSV with stray quotes, null for an empty line. */
function rowsWithStrayQuotes(text: string): OptionalRow[] {
  const cell = /"((?:[^"]|"")*)"(?=[\t\r\n]|$)|"(?:[^"\t\r\n]|"")*"(?!")[^\t\r\n]*|[^\t\r\n]*/y;
  const rows: OptionalRow[] = [];
  for (let at = 0; at < text.length;) {
    const start = at;
    const row: string[] = [];
    for (let end = '\t'; end === '\t'; at += end.length) {
      cell.lastIndex = at;
      const [source = '', quoted] = cell.exec(text) ?? [];
      row.push(quoted?.replaceAll('""', '"') ?? unquotedText(source));
      at += source.length;
      end = /\r\n|[\t\r\n]|$/.exec(text.slice(at))?.[0] ?? '';
    }
    rows.push(/[\r\n]/.test(text.charAt(start)) ? null : row);
  }
  return rows;
}

/** Returns a cell with other text behind its closing quote: doubled quotes before that are one quote. */
function unquotedText(source: string): string {
  const [, quoted, rest] = /^"((?:[^"]|"")*)"(?!")(.*)$/s.exec(source) ?? [];
  return quoted === undefined ? source : `"${quoted.replaceAll('""', '"')}"${rest}`;
}

function parsed(text: string, keepsEmptyLines: boolean): string[][] | null {
  try {
    return parse(text, {
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      relax_quotes: true,
      skip_empty_lines: !keepsEmptyLines,
    });
  } catch (error) {
    if (error instanceof CsvError && error.code === 'CSV_QUOTE_NOT_CLOSED') return null;
    throw error;
  }
}
