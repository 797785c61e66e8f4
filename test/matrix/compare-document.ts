/** Compares converted documents: words, sheets, slides and pages of the published samples. */
import { readFile } from 'node:fs/promises';
import { strFromU8, unzipSync } from 'fflate';
import { expect } from 'vitest';
import type { Format, Kind } from '#crds/catalogue/formats.ts';
import type { Comparison } from '#test/matrix/comparison.ts';
import { pagesOf, wordsOf } from '#test/matrix/compare-pdf.ts';

interface SampleDocument {
  /** Words at the beginning and the end. */
  readonly words: readonly string[];
  /** Words on the second sheet, which targets with one sheet omit. */
  readonly further: readonly string[];
  readonly pages: { readonly min: number; readonly max: number };
}

/** Content that `hack/make-samples.ts` wrote into the samples. */
const DOCUMENTS: Readonly<Partial<Record<Kind, SampleDocument>>> = {
  word: { words: ['Dear members,', 'Meeting on 3 May', 'the committee'], further: [], pages: { min: 1, max: 2 } },
  sheet: { words: ['Timber', 'Balance'], further: ['Note 7'], pages: { min: 2, max: 6 } },
  presentation: { words: ['Ridge path 1', 'Ridge path 2'], further: [], pages: { min: 2, max: 5 } },
};

const PARTS: Readonly<Partial<Record<Format, RegExp>>> = {
  docx: /^word\/document\.xml$/,
  xlsx: /^xl\/(sharedStrings|workbook|worksheets\/sheet\d+)\.xml$/,
  pptx: /^ppt\/slides\/slide\d+\.xml$/,
  odt: /^content\.xml$/,
  ods: /^content\.xml$/,
  odp: /^content\.xml$/,
};

export async function compareDocument({ file, directory }: Comparison): Promise<void> {
  const { kind, output_format: format } = file.report.result;
  const wanted = DOCUMENTS[kind];
  if (wanted === undefined) throw new Error(`${kind} is no document`);
  const text = await textOf(file.path, format, directory);
  const words = format === 'csv' ? wanted.words : [...wanted.words, ...wanted.further];
  expect(words.filter((word) => !text.includes(word))).toEqual([]);
  if (format === 'pdf') {
    const pages = await pagesOf(file.path, directory);
    expect(pages).toBeGreaterThanOrEqual(wanted.pages.min);
    expect(pages).toBeLessThanOrEqual(wanted.pages.max);
  }
}

async function textOf(path: string, format: Format, directory: string): Promise<string> {
  if (format === 'pdf') return (await wordsOf(path, directory)).join(' ');
  const bytes = await readFile(path);
  const part = PARTS[format];
  if (part !== undefined) return plain(partsOf(bytes, part));
  return format === 'rtf' ? bytes.toString('latin1').replaceAll(/\r?\n/g, '') : plain(bytes.toString());
}

function partsOf(bytes: Buffer, part: RegExp): string {
  const files = unzipSync(bytes, { filter: ({ name }) => part.test(name) });
  return Object.keys(files)
    .toSorted()
    .map((name) => strFromU8(files[name] ?? new Uint8Array()))
    .join('\n');
}

/** Returns the text without tags, some of which are inside words, with whitespace collapsed. */
function plain(xml: string): string {
  return xml
    .replaceAll(/<text:s\/>/g, ' ')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/\s+/g, ' ');
}
