/** Compares converted tables: the text of every cell, read by other parsers than the engine's. */
import { readFile } from 'node:fs/promises';
import { parse } from 'csv-parse/sync';
import { strFromU8, unzipSync } from 'fflate';
import { expect } from 'vitest';
import { TABLE_ROWS } from '#test/fixtures/make-table-fixtures.ts';
import type { Comparison } from '#test/matrix/comparison.ts';

type Rows = readonly (readonly string[])[];

const READERS: Readonly<Record<string, (text: string) => Rows>> = {
  csv: (text) => parse(text),
  tsv: (text) => parse(text, { delimiter: '\t' }),
  json: (text) => fromObjects(JSON.parse(text) as Record<string, string>[]),
  ndjson: (text) =>
    fromObjects(
      text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, string>),
    ),
  html: (text) => cellsOf(text, /<tr>.*?<\/tr>/gs, /<t[hd]>(.*?)<\/t[hd]>/gs).map((row) => row.map(unescaped)),
  md: (text) =>
    text
      .split('\n')
      .filter((line) => line.startsWith('|') && !/^[|:\s-]+$/.test(line))
      .map((line) =>
        line
          .split(/(?<!\\)\|/)
          .slice(1, -1)
          .map((cell) => unescaped(cell.trim().replaceAll(/\\([^\w\s])/g, '$1'))),
      ),
};

export async function compareTable({ file }: Comparison): Promise<void> {
  const { output_format: format } = file.report.result;
  const bytes = await readFile(file.path);
  const rows = format === 'xlsx' ? fromSheet(bytes) : (READERS[format]?.(bytes.toString()) ?? []);
  expect(rows).toEqual(TABLE_ROWS);
}

function fromObjects(objects: readonly Record<string, string>[]): Rows {
  const names = Object.keys(objects[0] ?? {});
  return [names, ...objects.map((object) => names.map((name) => object[name] ?? ''))];
}

/** Reads the sheet of a workbook. Asserts that every cell has the type of text. */
function fromSheet(bytes: Buffer): Rows {
  const xml = strFromU8(unzipSync(bytes)['xl/worksheets/sheet1.xml'] ?? new Uint8Array());
  expect(xml).not.toContain('<f>');
  return [...xml.matchAll(/<row[^>]*>(.*?)<\/row>/gs)].map(([, row = '']) => {
    const cells = ['', '', ''];
    for (const [, column = '', text = ''] of row.matchAll(
      /<c r="([A-Z])\d+"[^>]* t="inlineStr"[^>]*>.*?<t[^>]*>(.*?)<\/t>/gs,
    ))
      cells[column.charCodeAt(0) - 65] = unescaped(text);
    return cells;
  });
}

function cellsOf(text: string, rows: RegExp, cells: RegExp): Rows {
  return [...text.matchAll(rows)].map(([row]) => [...row.matchAll(cells)].map(([, cell = '']) => cell));
}

function unescaped(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
}
