/** Facts of HEIC and AVIF files from their boxes. */
import type { FileReader } from '#worker-image/engine/containers/file-reader.ts';
import { isLimitedRangeStill } from '#worker-image/engine/containers/av1-sequence.ts';
import { brokenFile } from '#worker-image/engine/containers/broken-file.ts';
import { verifyLocations } from '#worker-image/engine/containers/heif-items.ts';
import { readFileBoxes, readBoxesByPath } from '#worker-image/engine/containers/iso-boxes.ts';

/** Returns the number of samples of the first track; 0 without one. Source: ISO/IEC 14496-12, 8.7.3. */
export async function countSequenceFrames(file: FileReader): Promise<number> {
  const [sizes] = await readBoxesByPath(file, ['moov', 'trak', 'mdia', 'minf', 'stbl', 'stsz']);
  const count = sizes === undefined ? Buffer.alloc(0) : await file.read(sizes.body + 8, 4);
  return count.length === 4 ? count.readUInt32BE(0) : 0;
}

/** Returns the number of items (images, tiles, metadata); 0 without a list. Source: ISO/IEC 14496-12, 8.11.6. */
export async function countItems(file: FileReader): Promise<number> {
  const [list] = await readBoxesByPath(file, ['meta', 'iinf']);
  const bytes = list === undefined ? Buffer.alloc(0) : await file.read(list.body, 8);
  if (bytes.length < 8) return 0;
  return bytes[0] === 0 ? bytes.readUInt16BE(4) : bytes.readUInt32BE(4);
}

/** Maximum length of a table of locations that is read, in bytes: of 4,096 items with 32 extents of 24 bytes, and more. */
const MAX_LOCATION_BYTES = 4 * 1024 ** 2;

/**
 * Verifies the locations of items, of which libheif without limits reads as many as a file claims. Source: ISO/IEC 14496-12,
 * 8.11.3. @throws MediaError processing_failed without a table, for a truncated one, and for extents that are too many or take
 * no bytes.
 */
export async function verifyItemLocations(file: FileReader): Promise<void> {
  const tables = await readBoxesByPath(file, ['meta', 'iloc']);
  if (tables.length === 0) throw brokenFile('HEIF', 'it has no table of locations');
  for (const { body, end } of tables) {
    verifyLocations(await file.read(body, Math.min(end - body, MAX_LOCATION_BYTES)));
  }
}

/** Bytes of `av1C` before the units of the bit stream, and with as much of these as a sequence header takes. */
const [UNITS_AT, CODING_BYTES] = [4, 36];

/**
 * Returns whether every image of an AVIF is monochrome with limited-range samples, 16 to 235 as in video. Source: AV1
 * Codec ISO Media File Format, 2.3; ISO/IEC 14496-12, 12.1.5.
 */
export async function isLimitedRangeGray(file: FileReader): Promise<boolean> {
  const lists = await readBoxesByPath(file, ['meta', 'iprp', 'ipco']);
  const properties = (await Promise.all(lists.map((list) => readFileBoxes(file, list)))).flat();
  const readAll = (type: string, bytes: number): Promise<Buffer[]> =>
    Promise.all(properties.filter((box) => box.type === type).map(({ body }) => file.read(body, bytes)));
  const codings = await readAll('av1C', CODING_BYTES);
  const ranges = (await readAll('colr', 11)).filter((color) => color.toString('latin1', 0, 4) === 'nclx');
  const isGray = codings.length > 0 && codings.every((coding) => ((coding[2] ?? 0) & 0x10) !== 0);
  if (!isGray) return false;
  // Without color information of the container that of the bit stream applies.
  if (ranges.length === 0) return codings.every((coding) => isLimitedRangeStill(coding.subarray(UNITS_AT)));
  return ranges.every((color) => ((color[10] ?? 0x80) & 0x80) === 0);
}
