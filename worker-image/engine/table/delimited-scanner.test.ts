import { CsvError } from 'csv-parse';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DelimitedScanner } from '#worker-image/engine/table/delimited-scanner.ts';
import { MAX_COLUMNS, MAX_ROW_CHARS } from '#worker-image/engine/table/table-row.ts';

interface Options {
  readonly delimiter?: string;
  readonly keepsEmptyLines?: boolean;
  /** Number of bytes that are written at a time. */
  readonly step?: number;
}

/** Returns the rows, or null when a quote is not closed. */
function scan(
  text: string,
  { delimiter = ',', keepsEmptyLines = false, step = Infinity }: Options = {},
): string[][] | null {
  const scanner = new DelimitedScanner({ delimiter, keepsEmptyLines });
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
      const scanner = new DelimitedScanner({ delimiter: ',', keepsEmptyLines: false });
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
