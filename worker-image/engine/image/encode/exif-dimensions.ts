import { openTiff, readDirectories, readDirectoryAt } from '#worker-image/engine/containers/tiff-in-memory.ts';

const EXIF_DIRECTORY = 0x8769;
const PIXEL_X_DIMENSION = 0xa002;
const PIXEL_Y_DIMENSION = 0xa003;
const OFFSET_BYTES = 4;

/** Returns a copy of the EXIF item of a HEIF with the given size in its dimension tags. Source: EXIF 2.32, 4.6.5. */
export function withExifDimensions(item: Buffer, { width, height }: { width: number; height: number }): Buffer {
  const copy = Buffer.from(item);
  const tiff = openTiff(copy.subarray(OFFSET_BYTES + copy.readUInt32BE(0)));
  const main = readDirectories(tiff)[0]?.entries.find(({ tag }) => tag === EXIF_DIRECTORY);
  if (main === undefined) return copy;
  for (const { tag, values } of readDirectoryAt(tiff, tiff.number(main.values.start, 4)).entries) {
    const size = tag === PIXEL_X_DIMENSION ? width : tag === PIXEL_Y_DIMENSION ? height : null;
    if (size !== null) tiff.writeNumber(size, values.start, values.end - values.start);
  }
  return copy;
}
