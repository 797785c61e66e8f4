/**
 * Removes metadata from every page of a TIFF in place: tags that do not describe the image are removed from their
 * directory, and every byte that no remaining tag refers to is blanked or cut, previews and unused data included.
 */
import { brokenFile } from '#worker-image/engine/containers/broken-file.ts';
import { numbersOf, openTiff, readDirectories, type Tiff } from '#worker-image/engine/containers/tiff-in-memory.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import { REDUCED, type ByteRange, type TiffDirectory } from '#worker-image/engine/containers/tiff.ts';

const TAG = {
  subfileType: 254,
  compression: 259,
  stripOffsets: 273,
  stripBytes: 279,
  tileOffsets: 324,
  tileBytes: 325,
  subIfds: 330,
} as const;
/** Tags that are kept: size, samples, strips and tiles, colors, transparency, position, profile. */
const KEPT: ReadonlySet<number> = numbersIn(
  '254-259 262-266 273 274 277-284 286 287 290-293 296 297 301 317-328 332 334 336 338-342 347 512-515 517-521 ' +
    '529-532 32995-32998 34675',
);
const OLD_JPEG = 6;

/** Tag of Photoshop's layers, and the names of the block that holds them, by depth and byte order. */
const LAYERS = 37_724;
const LAYER_BLOCKS = ['8BIMLayr', '8BIMLr16', '8BIMLr32', 'MIB8ryaL', 'MIB861rL', 'MIB823rL'];
/** Part of the tag's values in which the block begins, in bytes. */
const LAYER_SEARCH_BYTES = 64 * 1024;

/** Returns whether a page has layers. @throws MediaError processing_failed when a directory or its values are truncated. */
export function hasTiffLayers(file: Buffer): boolean {
  const entries = readDirectories(openTiff(file)).flatMap((page) => page.entries);
  return entries.some(({ tag, values: { start, end } }) => {
    const values = tag === LAYERS ? file.subarray(start, Math.min(end, start + LAYER_SEARCH_BYTES)) : null;
    return values !== null && LAYER_BLOCKS.some((name) => values.includes(name));
  });
}

/**
 * Returns a copy without metadata. It ends with the last byte that a remaining tag refers to.
 * @throws MediaError processing_failed when a directory or its values are truncated.
 */
export function stripTiff(original: Buffer): Buffer {
  const tiff = openTiff(Buffer.from(original));
  const pages = readDirectories(tiff);
  refuseNestedImage(tiff, pages[0]);
  const whole = pages.filter((page) => (valueOf(tiff, page, TAG.subfileType) & REDUCED) === 0);
  const shown = whole.length > 0 ? whole : pages.slice(0, 1);
  const removed = [...pages.filter((page) => !shown.includes(page)).map(({ range }) => range), ...removedValues(shown)];
  // Only the decoder of old JPEG finds its tables, so their bytes must stay.
  const isOld = shown.some((page) => valueOf(tiff, page, TAG.compression) === OLD_JPEG);
  const kept = keptRanges(tiff, shown);
  linkPages(tiff, shown);
  for (const page of shown) dropEntries(tiff, page);
  if (!isOld) return tiff.file.subarray(0, blankGaps(tiff.file, kept));
  for (const { start, end } of removed) tiff.file.fill(0, start, end);
  return tiff.file;
}

/** Refuses a file whose image is nested in its preview, as cameras write it: what is nested is blanked. */
function refuseNestedImage(tiff: Tiff, first: TiffDirectory | undefined): void {
  if (first === undefined || (valueOf(tiff, first, TAG.subfileType) & REDUCED) === 0) return;
  if (!first.entries.some(({ tag }) => tag === TAG.subIfds)) return;
  throw new MediaError(
    'processing_failed',
    'The TIFF begins with a preview that contains the image, as some cameras write it. Save it with one page and send that.',
  );
}

function numbersIn(ranges: string): Set<number> {
  const numbers = ranges.split(' ').flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, i) => first + i);
  });
  return new Set(numbers);
}

/** Returns the first value of an entry; 0 without the entry. */
function valueOf(tiff: Tiff, page: TiffDirectory, tag: number): number {
  const entry = page.entries.find((one) => one.tag === tag);
  return entry === undefined ? 0 : (numbersOf(tiff, entry)[0] ?? 0);
}

function removedValues(pages: readonly TiffDirectory[]): ByteRange[] {
  return pages.flatMap(({ entries }) => entries.filter(({ tag }) => !KEPT.has(tag)).map(({ values }) => values));
}

/** Returns the ranges of header, directories, their values, and the pixels that these refer to. */
function keptRanges(tiff: Tiff, pages: readonly TiffDirectory[]): ByteRange[] {
  const ranges = pages.flatMap((page) => [
    page.range,
    ...page.entries.filter(({ tag }) => KEPT.has(tag)).map(({ values }) => values),
    ...data(tiff, page, TAG.stripOffsets, TAG.stripBytes),
    ...data(tiff, page, TAG.tileOffsets, TAG.tileBytes),
  ]);
  return [{ start: 0, end: tiff.headerBytes }, ...ranges].toSorted((one, other) => one.start - other.start);
}

/** Returns the ranges of strips or tiles. Without lengths, they reach to the end of the file. */
function data(tiff: Tiff, { entries }: TiffDirectory, offsets: number, lengths: number): ByteRange[] {
  const [at, bytes] = [offsets, lengths].map((tag) => entries.find((entry) => entry.tag === tag));
  if (at === undefined) return [];
  const sizes = bytes === undefined ? [] : numbersOf(tiff, bytes);
  return numbersOf(tiff, at).map((start, i) => {
    const end = start + (sizes[i] ?? tiff.file.length - start);
    if (end > tiff.file.length) throw brokenFile('TIFF', 'its pixels are truncated');
    return { start, end };
  });
}

/** Links the kept pages, past those that are removed. */
function linkPages(tiff: Tiff, pages: readonly TiffDirectory[]): void {
  const { firstLinkAt, offsetBytes } = tiff.coding;
  tiff.writeNumber(pages[0]?.range.start ?? 0, firstLinkAt, offsetBytes);
  pages.forEach(({ linkAt }, i) => tiff.writeNumber(pages[i + 1]?.range.start ?? 0, linkAt, offsetBytes));
}

function dropEntries(tiff: Tiff, { range, entries, linkAt }: TiffDirectory): void {
  const kept = entries.filter(({ tag }) => KEPT.has(tag));
  if (kept.length === entries.length) return;
  const { countBytes, entryBytes } = tiff.coding;
  const link = Buffer.from(tiff.file.subarray(linkAt, range.end));
  const body = Buffer.concat(kept.map(({ at }) => Buffer.from(tiff.file.subarray(at, at + entryBytes))));
  tiff.file.fill(0, range.start, range.end);
  tiff.writeNumber(kept.length, range.start, countBytes);
  body.copy(tiff.file, range.start + countBytes);
  link.copy(tiff.file, range.start + countBytes + body.length);
}

/** Blanks what is between the kept ranges. Returns the end of the last one. */
function blankGaps(file: Buffer, kept: readonly ByteRange[]): number {
  let at = 0;
  for (const { start, end } of kept) {
    if (start > at) file.fill(0, at, Math.min(start, file.length));
    at = Math.max(at, end);
  }
  return at;
}
