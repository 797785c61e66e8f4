import type { Format } from '#crds/catalogue/formats.ts';
import { formatOfName } from '#crds/catalogue/formats.ts';
import { hasBytes } from '#worker-image/engine/containers/has-bytes.ts';
import type { FileReader } from '#worker-image/engine/containers/file-reader.ts';
import { readTiffDirectories, TIFF_TAG, tiffNumber, type TiffEntries } from '#worker-image/engine/containers/tiff.ts';
import type { SniffedFile } from '#worker-image/engine/identify/sniffed-file.ts';
import { unsupported } from '#worker-image/engine/identify/unsupported.ts';

/** Value of `photometric` for the samples of a color filter array. */
const CFA = 32_803;
/** Compressions that only the RAW files of Nikon and Sony use. */
const RAW_COMPRESSIONS: readonly number[] = [34_713, 32_767];

/**
 * Returns TIFF, or the camera RAW format that is built on it; null when the file is neither. A TIFF made of a RAW by a
 * photo program still names the camera, so RAW also needs sensor data in a directory, or the RAW format's file name.
 */
export async function formatOfTiff(file: SniffedFile): Promise<Format | null> {
  if (!hasBytes(file.head, 'II*\0') && !hasBytes(file.head, 'MM\0*')) return null;
  if (hasBytes(file.head, 'CR\x02', 8)) return 'cr2';
  return rawOrTiff(file, await readTiffDirectories(file));
}

async function rawOrTiff(file: SniffedFile, directories: readonly TiffEntries[]): Promise<Format> {
  if (directories.some((entries) => entries.has(TIFF_TAG.dngVersion))) return 'dng';
  const maker = await makerOf(file, directories);
  const format = maker.startsWith('NIKON') ? 'nef' : maker.startsWith('SONY') ? 'arw' : null;
  const isRaw = directories.some(hasSensorData);
  if (format !== null && (isRaw || formatOfName(file.filename) === format)) return format;
  if (isRaw && maker !== '') throw unsupported(`a camera RAW file of ${maker.slice(0, 40)}`);
  return 'tiff';
}

function hasSensorData(entries: TiffEntries): boolean {
  return (
    tiffNumber(entries, TIFF_TAG.photometric) === CFA ||
    RAW_COMPRESSIONS.includes(tiffNumber(entries, TIFF_TAG.compression))
  );
}

/** Returns the camera's maker in upper case; empty when no directory names it. */
async function makerOf(file: FileReader, directories: readonly TiffEntries[]): Promise<string> {
  const make = directories.map((entries) => entries.get(TIFF_TAG.make)).find((entry) => entry !== undefined);
  if (make === undefined) return '';
  const bytes = await file.read(make.values.start, Math.min(make.count, 64));
  return bytes.toString('latin1').replace(/\0.*$/s, '').trim().toUpperCase();
}
