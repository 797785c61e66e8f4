/** Refuses workbooks of few bytes whose cells repeat long texts: LibreOffice would write gigabytes. */
import type { Format } from '#crds/catalogue/formats.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import { partsOf, wholeTags } from '#worker-image/engine/office/document-parts.ts';

const FORMATS: readonly Format[] = ['xlsx', 'xlsm'];
const SHARED_TEXTS = /^xl\/sharedStrings\.xml$/i;
const SHEETS = /^xl\/worksheets\/[^/]+\.xml$/i;
const TEXT = /<(\/?)(?:\w+:)?si(?=[\s/>])[^<>]*>/g;
/** A cell with its attributes and number. */
const CELL = /<(?:\w+:)?c\s([^<>]*)>\s*<(?:\w+:)?v>(\d{1,9})</g;
/** Attribute of a cell whose number is that of a text. */
const REFERS_TO_TEXT = /\bt="s"/;

/** Length of a text from which the cells are read, in bytes. Few workbooks have longer ones. */
const LONG_BYTES = 1000;
/** Maximum length of the texts of all cells, in bytes. */
const MAX_BYTES = 1_000_000_000;

/** @throws MediaError limit_exceeded. */
export async function refuseRepeatedText(
  signal: AbortSignal,
  { path, format }: { readonly path: string; readonly format: Format },
): Promise<void> {
  if (!FORMATS.includes(format)) return;
  try {
    const lengths = await sharedTextLengths(signal, path);
    if (lengths.some((length) => length > LONG_BYTES)) await readCells(signal, path, lengths);
  } catch (error) {
    signal.throwIfAborted();
    // LibreOffice reports a damaged document.
    if (error instanceof MediaError) throw error;
  }
}

/** Returns the lengths of the texts that cells refer to by number, in bytes of their XML. */
async function sharedTextLengths(signal: AbortSignal, path: string): Promise<number[]> {
  const lengths: number[] = [];
  for await (const part of partsOf(path, SHARED_TEXTS)) {
    // Offsets from the start of the part.
    let [start, piece] = [0, 0];
    for await (const xml of wholeTags(part)) {
      signal.throwIfAborted();
      start = addLengths(xml, { piece, start, lengths });
      piece += xml.length;
    }
  }
  return lengths;
}

interface Piece {
  /** Offset of the piece. */
  readonly piece: number;
  /** Offset of the text that an earlier piece began. */
  readonly start: number;
  readonly lengths: number[];
}

/** Adds the lengths of the texts that end in a piece of XML. Returns the offset of the last one that begins in it. */
function addLengths(xml: string, { piece, start, lengths }: Piece): number {
  let from = start;
  for (const { 0: tag, 1: slash, index } of xml.matchAll(TEXT)) {
    const isEmpty = tag.endsWith('/>');
    if (slash === '/') lengths.push(piece + index - from);
    else if (isEmpty) lengths.push(0);
    else from = piece + index + tag.length;
  }
  return from;
}

/** Adds up the texts of the cells. Those whose number is at the edge of a piece of XML are not counted. */
async function readCells(signal: AbortSignal, path: string, lengths: readonly number[]): Promise<void> {
  let bytes = 0;
  for await (const part of partsOf(path, SHEETS)) {
    for await (const xml of wholeTags(part)) {
      signal.throwIfAborted();
      bytes += textBytes(xml, lengths);
      if (bytes > MAX_BYTES) throw tooMuchText();
    }
  }
}

/** Returns the length of the texts that the cells in a piece of XML refer to, in bytes. */
function textBytes(xml: string, lengths: readonly number[]): number {
  let bytes = 0;
  for (const [, attributes = '', number] of xml.matchAll(CELL))
    if (REFERS_TO_TEXT.test(attributes)) bytes += lengths[Number(number)] ?? 0;
  return bytes;
}

function tooMuchText(): MediaError {
  return new MediaError(
    'limit_exceeded',
    `The texts in the cells of the workbook have more than ${MAX_BYTES} bytes. Save it with less text.`,
  );
}
