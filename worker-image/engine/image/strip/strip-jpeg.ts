/** Removes metadata from a JPEG segment by segment; the coded image is copied as it is. */
import { makeOrientationTiff, readOrientation, UPRIGHT } from '#worker-image/engine/image/strip/orientation-exif.ts';
import { brokenFile } from '#worker-image/engine/containers/broken-file.ts';

const SOI = 0xd8;
const EOI = 0xd9;
const SOS = 0xda;
const APP0 = 0xe0;
const APP1 = 0xe1;
const APP2 = 0xe2;
const APP14 = 0xee;
const APP15 = 0xef;
const COMMENT = 0xfe;
const EXIF = Buffer.from('Exif\0\0', 'latin1');
const JFIF = Buffer.from('JFIF\0', 'latin1');
const ICC = Buffer.from('ICC_PROFILE\0', 'latin1');
const ADOBE = Buffer.from('Adobe', 'latin1');
const JFIF_BYTES = 18;

/**
 * Keeps the image, JFIF without its thumbnail, color profile, Adobe's color flag and the orientation. Removes second
 * images, gain maps and other data after the end of the image.
 * @throws MediaError processing_failed when the segments do not lead to an end mark.
 */
export function stripJpeg(file: Buffer): Buffer {
  if (file[0] !== 0xff || file[1] !== SOI) throw brokenFile('JPEG', 'its start marker is missing');
  const segments = readSegments(file);
  const exif = segments.find(({ marker, bytes }) => marker === APP1 && startsWith(bytes, EXIF));
  const orientation = exif === undefined ? UPRIGHT : readOrientation(exif.bytes.subarray(4 + EXIF.length));
  const kept = segments.map(keptBytes).filter((bytes) => bytes !== null);
  if (orientation !== UPRIGHT) kept.splice(kept[0]?.[1] === APP0 ? 1 : 0, 0, orientationSegment(orientation));
  return Buffer.concat([file.subarray(0, 2), ...kept, Buffer.from([0xff, EOI])]);
}

interface Segment {
  readonly marker: number;
  /** Marker, length and content; the coded data too after a start of scan. */
  readonly bytes: Buffer;
}

function readSegments(file: Buffer): Segment[] {
  const segments: Segment[] = [];
  let at = markerAt(file, 2);
  while (file[at + 1] !== EOI) {
    const marker = file[at + 1] ?? EOI;
    const content = at + 2 + lengthAt(file, at + 2);
    const end = marker === SOS ? endOfScan(file, content) : content;
    segments.push({ marker, bytes: file.subarray(at, end) });
    at = markerAt(file, end);
  }
  return segments;
}

/** Returns the offset of the next marker's 0xff. Skips fill bytes and others that no decoder reads as a marker. */
function markerAt(file: Buffer, at: number): number {
  let position = file.indexOf(0xff, at);
  while (position !== -1 && !isMarker(file[position + 1])) position = file.indexOf(0xff, position + 1);
  if (position === -1) throw brokenFile('JPEG', 'its end marker is missing');
  return position;
}

function isMarker(byte: number | undefined): boolean {
  return byte !== undefined && byte !== 0 && byte !== 0xff;
}

function lengthAt(file: Buffer, at: number): number {
  if (at + 2 > file.length) throw brokenFile('JPEG', 'a segment is truncated');
  const length = file.readUInt16BE(at);
  if (length < 2 || at + length > file.length) throw brokenFile('JPEG', 'a segment is truncated');
  return length;
}

function keptBytes({ marker, bytes }: Segment): Buffer | null {
  if (marker === APP0) return startsWith(bytes, JFIF) ? withoutThumbnail(bytes) : null;
  if (marker === APP2) return startsWith(bytes, ICC) ? bytes : null;
  if (marker === APP14) return startsWith(bytes, ADOBE) ? bytes : null;
  if (marker === COMMENT || (marker >= APP1 && marker <= APP15)) return null;
  return bytes;
}

function startsWith(segment: Buffer, identifier: Buffer): boolean {
  return segment.subarray(4, 4 + identifier.length).equals(identifier);
}

function withoutThumbnail(segment: Buffer): Buffer {
  if (segment.length <= JFIF_BYTES) return segment;
  const copy = Buffer.from(segment.subarray(0, JFIF_BYTES));
  copy.writeUInt16BE(JFIF_BYTES - 2, 2);
  copy.writeUInt16BE(0, JFIF_BYTES - 2);
  return copy;
}

/** Returns the offset of the scan's end. In coded data 0xff is followed by 0 or by a restart marker. */
function endOfScan(file: Buffer, start: number): number {
  let at = file.indexOf(0xff, start);
  while (at !== -1 && at + 1 < file.length) {
    const next = file[at + 1] ?? EOI;
    if (next !== 0 && next !== 0xff && (next < 0xd0 || next > 0xd7)) return at;
    at = file.indexOf(0xff, next === 0xff ? at + 1 : at + 2);
  }
  throw brokenFile('JPEG', 'its end marker is missing');
}

function orientationSegment(orientation: number): Buffer {
  const payload = Buffer.concat([EXIF, makeOrientationTiff(orientation)]);
  const head = Buffer.from([0xff, APP1, 0, 0]);
  head.writeUInt16BE(payload.length + 2, 2);
  return Buffer.concat([head, payload]);
}
