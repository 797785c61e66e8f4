/**
 * Takes metadata out of a HEIC or AVIF in place: the bytes of EXIF, XMP and thumbnail items are blanked,
 * those of auxiliary images included, so that no offset in the file moves and every picture stays as it is.
 */
import {
  readBoxes,
  readItems,
  type Box,
  type Item,
  type ItemTable,
} from '#worker-image/engine/image/strip/heif-items.ts';
import { makeOrientationTiff, readOrientation } from '#worker-image/engine/image/strip/orientation-exif.ts';
import { brokenFile } from '#worker-image/engine/image/strip/strip-refusal.ts';

/** Properties that describe the picture in words or say when it was taken. */
const TELLING_PROPERTIES: ReadonlySet<string> = new Set(['udes', 'altt', 'crtt', 'mdft']);
const TELLING_BOXES: ReadonlySet<string> = new Set(['uuid', 'udta']);
/** Makers append boxes of their own, such as a short film or the time of the shot. */
const KNOWN_AT_TOP: ReadonlySet<string> = new Set(['ftyp', 'meta', 'mdat', 'moov', 'moof', 'free', 'skip']);
const CONTAINERS: ReadonlySet<string> = new Set(['moov', 'trak', 'mdia', 'minf']);
/** Boxes of a film that say when it was made and changed. */
const DATED_BOXES: ReadonlySet<string> = new Set(['mvhd', 'tkhd', 'mdhd']);
const TIFF_OFFSET_BYTES = 4;
const HIDDEN = 1;

/** @throws MediaError processing_failed when the boxes do not nest. */
export function stripHeif(original: Buffer): Buffer {
  const file = Buffer.from(original);
  const boxes = readBoxes(file, 0, file.length);
  blankTellingBoxes(file, boxes);
  for (const box of boxes) if (!KNOWN_AT_TOP.has(box.type)) blankBox(file, box);
  const meta = boxes.find(({ type }) => type === 'meta');
  if (meta === undefined) throw brokenFile('HEIF', 'it has no list of items');
  const table = readItems(file, meta);
  const thumbnails = hideThumbnails(file, table);
  const gone = table.items.filter((item) => thumbnails.has(item.id) || isMetadata(item));
  const pictures = table.items.filter((item) => !gone.includes(item));
  for (const item of gone) blankItem(file, item, pictures);
  if (!boxes.some(({ type }) => type === 'moov' || type === 'moof')) blankGaps(file, boxes, table.items);
  for (const box of table.properties) if (TELLING_PROPERTIES.has(box.type)) blankBox(file, box);
  return file;
}

/** Boxes at any depth that hold words, whole `meta` boxes of sequences, and the dates of these. */
function blankTellingBoxes(file: Buffer, boxes: readonly Box[], inside = false): void {
  for (const box of boxes) {
    if (TELLING_BOXES.has(box.type) || (inside && box.type === 'meta')) blankBox(file, box);
    else if (DATED_BOXES.has(box.type)) blankDates(file, box);
    else if (CONTAINERS.has(box.type)) blankTellingBoxes(file, readBoxes(file, box.body, box.end), true);
  }
}

/** Readers skip a `free` box. */
function blankBox(file: Buffer, box: Box): void {
  file.write('free', box.start + 4, 'latin1');
  file.fill(0, box.body, box.end);
}

/** Two times behind version and flags, of 8 bytes each in version 1 (ISO/IEC 14496-12, 8.2.2). */
function blankDates(file: Buffer, { body, end }: Box): void {
  const bytes = file[body] === 1 ? 16 : 8;
  file.fill(0, Math.min(body + 4, end), Math.min(body + 4 + bytes, end));
}

function isMetadata({ type }: Item): boolean {
  return type === 'Exif' || type === 'mime' || type === 'uri ';
}

/** A thumbnail without its reference would count as a picture of its own: it is marked hidden. */
function hideThumbnails(file: Buffer, { items, references }: ItemTable): ReadonlySet<number> {
  const thumbnails = new Set<number>();
  for (const reference of references.filter(({ type }) => type === 'thmb')) {
    file.write('free', reference.box.start + 4, 'latin1');
    thumbnails.add(reference.from);
  }
  for (const item of items) {
    if (thumbnails.has(item.id)) file[item.flagsAt] = (file[item.flagsAt] ?? 0) | HIDDEN;
  }
  return thumbnails;
}

function blankItem(file: Buffer, item: Item, pictures: readonly Item[]): void {
  const orientation = item.type === 'Exif' ? orientationOf(file, item) : null;
  for (const { start, end } of item.extents) {
    const shared = pictures.some((other) => other.extents.some((extent) => extent.start < end && start < extent.end));
    if (!shared) file.fill(item.type === 'mime' ? ' ' : 0, start, end);
  }
  if (orientation !== null) writeOrientation(file, item, orientation);
}

/** Data that no item names: programs that edit a file leave the old behind. */
function blankGaps(file: Buffer, boxes: readonly Box[], items: readonly Item[]): void {
  const used = items.flatMap(({ extents }) => extents).toSorted((one, other) => one.start - other.start);
  // An extent without length reaches as far as the data does.
  if (used.some(({ start, end }) => start === end)) return;
  for (const box of boxes.filter(({ type }) => type === 'mdat')) {
    let at = box.body;
    for (const { start, end } of used) {
      if (start > at) file.fill(0, at, Math.min(start, box.end));
      at = Math.min(Math.max(at, end), box.end);
    }
    file.fill(0, at, box.end);
  }
}

function orientationOf(file: Buffer, { extents }: Item): number {
  const exif = Buffer.concat(extents.map(({ start, end }) => file.subarray(start, end)));
  if (exif.length < TIFF_OFFSET_BYTES) return readOrientation(exif);
  return readOrientation(exif.subarray(TIFF_OFFSET_BYTES + exif.readUInt32BE(0)));
}

/** An EXIF item that stays must be one that readers can open. */
function writeOrientation(file: Buffer, { extents }: Item, orientation: number): void {
  const tiff = makeOrientationTiff(orientation);
  const extent = extents[0];
  if (extent === undefined || extent.end - extent.start < TIFF_OFFSET_BYTES + tiff.length) return;
  tiff.copy(file, extent.start + TIFF_OFFSET_BYTES);
}
