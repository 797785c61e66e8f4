/**
 * Refuses documents whose layout would take LibreOffice hours: deeply nested tables or groups, sheets that fill or span
 * more cells than any real one, slides with tables of thousands of cells. Reads tags only, as text.
 */
import type { Readable } from 'node:stream';
import type { Format } from '#crds/catalogue/formats.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import { partsOf, wholeTags } from '#worker-image/engine/office/document-parts.ts';
import { refuseTooManyPages } from '#worker-image/engine/office/refuse-too-many-pages.ts';

/** Maximum nesting depth: 50 levels take two seconds, 300 more than a minute. */
const MAX_DEPTH = 50;
/** Maximum number of filled cells, including repetitions. */
const MAX_CELLS = 200_000_000;
/**
 * Maximum number of cells from the first to the last filled one, empty ones included. A PDF of that many takes 13
 * seconds, of 17 times as many five minutes.
 */
const MAX_AREA = 1_000_000_000;
/** Maximum number of table cells on a slide. Time grows with its square: 5,000 take 30 s. PowerPoint allows 75 × 75. */
const MAX_SLIDE_CELLS = 10_000;

/** Parts of a package with tables or groups; null for documents that are one file. */
const PARTS: Readonly<Partial<Record<Format, RegExp | null>>> = {
  docx: /^word\/document\.xml$/,
  docm: /^word\/document\.xml$/,
  xlsx: /^xl\/worksheets\/[^/]+\.xml$/,
  xlsm: /^xl\/worksheets\/[^/]+\.xml$/,
  pptm: /^ppt\/slides\/[^/]+\.xml$/,
  pptx: /^ppt\/slides\/[^/]+\.xml$/,
  odt: /^content\.xml$/,
  ods: /^content\.xml$/,
  fodt: null,
  fods: null,
};

const TAG = /<(\/?)(w:tbl|p:grpSp|table:table|table:table-row|table:table-cell|row|c|a:tc|w:br)(?=[\s/>])([^<>]*)>/g;
/** Elements that nest: tables and groups of shapes. */
const NESTING: ReadonlySet<string> = new Set(['w:tbl', 'table:table', 'p:grpSp']);

/**
 * Refuses a document by its tags.
 * @throws MediaError processing_failed for too deep nesting, limit_exceeded for too many cells.
 */
export async function refuseOversizedLayout(
  signal: AbortSignal,
  { path, format }: { readonly path: string; readonly format: Format },
): Promise<void> {
  const parts = PARTS[format];
  if (parts === undefined) return;
  try {
    for await (const part of partsOf(path, parts)) await readTags(signal, part);
  } catch (error) {
    signal.throwIfAborted();
    // LibreOffice reports a damaged document.
    if (error instanceof MediaError) throw error;
  }
}

async function readTags(signal: AbortSignal, part: Readable): Promise<void> {
  const layout = new LayoutCounter();
  for await (const xml of wholeTags(part)) {
    signal.throwIfAborted();
    for (const [, slash, name = '', attributes = ''] of xml.matchAll(TAG)) {
      if (slash === '') layout.open(name, attributes);
      else layout.close(name);
    }
  }
}

/** Counters of nesting, cells and page breaks over the tags so far. */
class LayoutCounter {
  #depth = 0;
  #cells = 0;
  #slideCells = 0;
  #breaks = 0;
  #rows = 0;
  #rowTimes = 1;
  #columns = 0;
  #widest = 0;

  open(name: string, attributes: string): void {
    const isEmpty = attributes.endsWith('/');
    switch (name) {
      case 'table:table-row':
        return this.#openRow(this.#rows + repeats(attributes, 'rows'), repeats(attributes, 'rows'));
      case 'row':
        return this.#openRow(Number(/\br="(\d{1,9})"/.exec(attributes)?.[1] ?? this.#rows + 1), 1);
      case 'table:table-cell':
        return this.#passCells(repeats(attributes, 'columns'), !isEmpty || attributes.includes('office:value'));
      case 'c':
        this.#columns = columnOf(attributes) ?? this.#columns;
        return this.#passCells(1, !isEmpty);
      case 'a:tc':
        return this.#passSlideCell();
      case 'w:br':
        return this.#passBreak(attributes);
      default:
        return this.#openTable(isEmpty);
    }
  }

  close(name: string): void {
    if (NESTING.has(name)) this.#depth -= 1;
  }

  #openTable(isEmpty: boolean): void {
    if (isEmpty) return;
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) throw tooDeep();
    if (this.#depth === 1) [this.#rows, this.#widest] = [0, 0];
  }

  #passSlideCell(): void {
    this.#slideCells += 1;
    if (this.#slideCells > MAX_SLIDE_CELLS) throw tooManyOnSlide();
  }

  #passBreak(attributes: string): void {
    if (/\bw:type="page"/.test(attributes)) this.#breaks += 1;
    refuseTooManyPages(this.#breaks);
  }

  #openRow(last: number, times: number): void {
    [this.#rows, this.#rowTimes, this.#columns] = [last, times, 0];
  }

  #passCells(times: number, isFilled: boolean): void {
    this.#columns += times;
    if (!isFilled) return;
    this.#cells += times * this.#rowTimes;
    if (this.#cells > MAX_CELLS) throw tooLarge('fills', this.#cells, MAX_CELLS);
    this.#widest = Math.max(this.#widest, this.#columns);
    const area = this.#widest * this.#rows;
    if (area > MAX_AREA) throw tooLarge('spans', area, MAX_AREA);
  }
}

function repeats(attributes: string, what: 'rows' | 'columns'): number {
  return Number(new RegExp(`:number-${what}-repeated="(\\d{1,9})"`).exec(attributes)?.[1] ?? 1);
}

/** Returns the number of columns left of the cell `r="AB12"`, or null without that attribute. */
function columnOf(attributes: string): number | null {
  const letters = /\br="([A-Z]{1,3})\d/.exec(attributes)?.[1];
  if (letters === undefined) return null;
  return Buffer.from(letters).reduce((number, letter) => number * 26 + letter - 64, 0) - 1;
}

function tooDeep(): MediaError {
  return new MediaError(
    'processing_failed',
    `The document has tables or groups nested more than ${MAX_DEPTH} deep, which cannot be laid out. Save it with fewer levels.`,
  );
}

function tooLarge(what: 'fills' | 'spans', cells: number, most: number): MediaError {
  return new MediaError(
    'limit_exceeded',
    `A sheet of the document ${what} ${cells} cells; at most ${most} can be laid out. Remove those that are not needed.`,
  );
}

function tooManyOnSlide(): MediaError {
  return new MediaError(
    'limit_exceeded',
    `A slide of the presentation has a table of more than ${MAX_SLIDE_CELLS} cells, which takes too long to lay out. Divide it among slides.`,
  );
}
