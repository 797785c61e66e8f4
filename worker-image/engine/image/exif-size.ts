import { openTiff, readDirectories, readDirectoryAt } from '#worker-image/engine/image/strip/tiff-directories.ts';

const EXIF_DIRECTORY = 0x8769;
const PIXELS_ACROSS = 0xa002;
const PIXELS_DOWN = 0xa003;
const OFFSET_BYTES = 4;

/** The EXIF item of a HEIF file, saying another size of the picture where it says one. Source: EXIF 2.32, 4.6.5. */
export function withExifSize(item: Buffer, { width, height }: { width: number; height: number }): Buffer {
  const copy = Buffer.from(item);
  const tiff = openTiff(copy.subarray(OFFSET_BYTES + copy.readUInt32BE(0)));
  const main = readDirectories(tiff)[0]?.entries.find(({ tag }) => tag === EXIF_DIRECTORY);
  if (main === undefined) return copy;
  for (const { tag, values } of readDirectoryAt(tiff, tiff.number(main.values.start, 4)).entries) {
    const size = tag === PIXELS_ACROSS ? width : tag === PIXELS_DOWN ? height : null;
    if (size !== null) tiff.writeNumber(size, values.start, values.end - values.start);
  }
  return copy;
}
