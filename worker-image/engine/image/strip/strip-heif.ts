/**
 * Removes metadata from a HEIC or AVIF in place: the bytes of EXIF, XMP and thumbnail items are blanked, those of
 * auxiliary images included. No offset in the file moves and every image stays as it is.
 */
import type { IsoBox } from '#worker-image/engine/containers/iso-boxes.ts';
import { readBoxes, readItems, type Item, type ItemTable } from '#worker-image/engine/containers/heif-items.ts';
import { makeOrientationTiff, readOrientation } from '#worker-image/engine/image/strip/orientation-exif.ts';
import { brokenFile } from '#worker-image/engine/containers/broken-file.ts';

/** Properties with a description or the time of the image. */
const METADATA_PROPERTIES: ReadonlySet<string> = new Set(['udes', 'altt', 'crtt', 'mdft']);
const METADATA_BOXES: ReadonlySet<string> = new Set(['uuid', 'udta']);
/** Boxes that are kept at the top level. Camera makers append their own, such as a short video or the time of the shot. */
const KNOWN_AT_TOP: ReadonlySet<string> = new Set(['ftyp', 'meta', 'mdat', 'moov', 'moof', 'free', 'skip']);
const CONTAINERS: ReadonlySet<string> = new Set(['moov', 'trak', 'mdia', 'minf']);
/** Boxes of a sequence with the times of its creation and last change. */
const DATED_BOXES: ReadonlySet<string> = new Set(['mvhd', 'tkhd', 'mdhd']);
const TIFF_OFFSET_BYTES = 4;
const HIDDEN = 1;

/** Returns a copy without metadata. @throws MediaError processing_failed when the boxes do not nest. */
export function stripHeif(original: Buffer): Buffer {
  const file = Buffer.from(original);
  const boxes = readBoxes(file, 0, file.length);
  blankMetadataBoxes(file, boxes);
  for (const box of boxes) if (!KNOWN_AT_TOP.has(box.type)) blankBox(file, box);
  const meta = boxes.find(({ type }) => type === 'meta');
  if (meta === undefined) throw brokenFile('HEIF', 'it has no list of items');
  const table = readItems(file, meta);
  const thumbnails = hideThumbnails(file, table);
  const removed = table.items.filter((item) => thumbnails.has(item.id) || isMetadata(item));
  const images = table.items.filter((item) => !removed.includes(item));
  for (const item of removed) blankItem(file, item, images);
  if (!boxes.some(({ type }) => type === 'moov' || type === 'moof')) blankGaps(file, boxes, table.items);
  for (const box of table.properties) if (METADATA_PROPERTIES.has(box.type)) blankBox(file, box);
  return file;
}

/** Blanks metadata boxes at any depth, `meta` boxes of sequences, and the dates of sequences. */
function blankMetadataBoxes(file: Buffer, top: readonly IsoBox[]): void {
  // No recursion: a hostile file nests boxes by the thousand.
  const pending = top.map((box) => ({ box, isNested: false }));
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { box, isNested } = next;
    if (METADATA_BOXES.has(box.type) || (isNested && box.type === 'meta')) blankBox(file, box);
    else if (DATED_BOXES.has(box.type)) blankDates(file, box);
    else if (CONTAINERS.has(box.type)) {
      for (const child of readBoxes(file, box.body, box.end)) pending.push({ box: child, isNested: true });
    }
  }
}

/** Replaces a box by a `free` box, which readers skip. */
function blankBox(file: Buffer, box: IsoBox): void {
  file.write('free', box.start + 4, 'latin1');
  file.fill(0, box.body, box.end);
}

/** Blanks the two times after version and flags, of 8 bytes each in version 1 (ISO/IEC 14496-12, 8.2.2). */
function blankDates(file: Buffer, { body, end }: IsoBox): void {
  const bytes = file[body] === 1 ? 16 : 8;
  file.fill(0, Math.min(body + 4, end), Math.min(body + 4 + bytes, end));
}

function isMetadata({ type }: Item): boolean {
  return type === 'Exif' || type === 'mime' || type === 'uri ';
}

/** Removes the references of thumbnails. Readers would show these as images of their own, so they are marked hidden. */
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

function blankItem(file: Buffer, item: Item, images: readonly Item[]): void {
  const orientation = item.type === 'Exif' ? orientationOf(file, item) : null;
  for (const { start, end } of item.extents) {
    const shared = images.some((other) => other.extents.some((extent) => extent.start < end && start < extent.end));
    if (!shared) file.fill(item.type === 'mime' ? ' ' : 0, start, end);
  }
  if (orientation !== null) writeOrientation(file, item, orientation);
}

/** Blanks data that no item refers to: programs that edit a file keep the old data. */
function blankGaps(file: Buffer, boxes: readonly IsoBox[], items: readonly Item[]): void {
  const used = items.flatMap(({ extents }) => extents).toSorted((one, other) => one.start - other.start);
  // An extent without length reaches to the end of the data.
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

/** Writes the orientation into an EXIF item, which must stay readable. */
function writeOrientation(file: Buffer, { extents }: Item, orientation: number): void {
  const tiff = makeOrientationTiff(orientation);
  const extent = extents[0];
  if (extent === undefined || extent.end - extent.start < TIFF_OFFSET_BYTES + tiff.length) return;
  tiff.copy(file, extent.start + TIFF_OFFSET_BYTES);
}
