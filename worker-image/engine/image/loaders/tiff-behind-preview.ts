/** TIFF that begins with a preview of the image, as cameras write it. libvips would read the preview. */
import { copyFile, open } from 'node:fs/promises';
import { withFileReader, type FileReader } from '#worker-image/engine/containers/file-reader.ts';
import {
  readTiffDirectoriesByOffset,
  REDUCED,
  TIFF_TAG,
  tiffCoding,
  tiffNumber,
  type TiffCoding,
  type TiffEntries,
} from '#worker-image/engine/containers/tiff.ts';
import { scratchPath } from '#worker-image/engine/image/libvips-picture.ts';
import type { ImageFile } from '#worker-image/engine/image/picture.ts';

/** Returns the path of a copy that begins with the image; that of the file when it begins with no preview. */
export async function skipPreview(file: ImageFile): Promise<string> {
  const image = await withFileReader(file.path, findBehindPreview);
  return image === null ? file.path : copyFrom(file, image);
}

/** An image that is not on the first page. */
interface LaterImage {
  readonly coding: TiffCoding;
  /** Offset of its directory. */
  readonly offset: number;
  /** Its directory with the orientation of the preview; null when it has an orientation of its own, or neither has one. */
  readonly oriented: Buffer | null;
}

/** Returns the largest image that is no smaller version of another, where the first page is one; else null. */
async function findBehindPreview(file: FileReader): Promise<LaterImage | null> {
  const coding = tiffCoding(file.head);
  const [first, ...others] = await readTiffDirectoriesByOffset(file);
  if (coding === null || first === undefined || !isReduced(first[1])) return null;
  const whole = others.filter(([, entries]) => !isReduced(entries) && pixels(entries) > 0);
  const [image] = whole.toSorted((one, other) => pixels(other[1]) - pixels(one[1]));
  if (image === undefined) return null;
  const [offset, entries] = image;
  const orientation = entries.has(TIFF_TAG.orientation) ? 0 : tiffNumber(first[1], TIFF_TAG.orientation);
  return { coding, offset, oriented: orientation === 0 ? null : await orient(file, coding, { offset, orientation }) };
}

function isReduced(entries: TiffEntries): boolean {
  return (tiffNumber(entries, TIFF_TAG.subfileType) & REDUCED) !== 0;
}

function pixels(entries: TiffEntries): number {
  return tiffNumber(entries, TIFF_TAG.width) * tiffNumber(entries, TIFF_TAG.height);
}

const SHORT = 3;
/** Maximum number of entries of a directory that are copied. */
const MAX_ENTRIES = 512;

/** Returns a directory with the orientation among its entries, which are sorted by tag. */
async function orient(
  file: FileReader,
  coding: TiffCoding,
  { offset, orientation }: { offset: number; orientation: number },
): Promise<Buffer> {
  const { countBytes, entryBytes, offsetBytes, number } = coding;
  const count = Math.min(number(await file.read(offset, countBytes), 0, countBytes), MAX_ENTRIES);
  const bytes = await file.read(offset + countBytes, count * entryBytes + offsetBytes);
  const tags = Array.from({ length: count }, (_, index) => number(bytes, index * entryBytes, 2));
  const middle = tags.filter((tag) => tag < TIFF_TAG.orientation).length * entryBytes;
  return Buffer.concat([
    encodeNumber(coding, count + 1, countBytes),
    bytes.subarray(0, middle),
    encodeNumber(coding, TIFF_TAG.orientation, 2),
    encodeNumber(coding, SHORT, 2),
    encodeNumber(coding, 1, offsetBytes),
    encodeNumber(coding, orientation, 2),
    Buffer.alloc(offsetBytes - 2),
    bytes.subarray(middle),
  ]);
}

async function copyFrom(file: ImageFile, { coding, offset, oriented }: LaterImage): Promise<string> {
  const copy = scratchPath(file, 'behind-preview.tif');
  await copyFile(file.path, copy);
  await using target = await open(copy, 'r+');
  const { size } = await target.stat();
  // Directories begin at even offsets.
  const end = size + (size % 2);
  if (oriented !== null) await target.write(oriented, 0, oriented.length, end);
  const link = encodeNumber(coding, oriented === null ? offset : end, coding.offsetBytes);
  await target.write(link, 0, link.length, coding.firstLinkAt);
  return copy;
}

function encodeNumber({ isLittle }: TiffCoding, value: number, width: 2 | 4 | 8): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  const number = bytes.subarray(0, width);
  return isLittle ? number : Buffer.from(number.toReversed());
}
