/** EXIF thumbnails, which libvips copies: they show an image as it was before its rotation and cropping. Source: EXIF 2.32. */
import { crc32 } from 'node:zlib';
import { MediaError } from '#crds/contract/media-error.ts';
import { openTiff, readDirectoryAt, readFirstDirectory } from '#worker-image/engine/containers/tiff-in-memory.ts';
import { readMetadata } from '#worker-image/engine/image/libvips-picture.ts';
import { readWhole } from '#worker-image/engine/image/read-whole.ts';
import { writeWhole, type WrittenFile } from '#worker-image/engine/written-file.ts';

const EXIF_MARK = 'Exif\0\0';
/** Type of a PNG's EXIF chunk, which precedes its data; a checksum of both follows. */
const PNG_CHUNK = 'eXIf';

/** Blanks the thumbnail in the EXIF of an output, in which nothing moves. Returns what was written. */
export async function blankThumbnail(path: string, written: WrittenFile | null): Promise<WrittenFile | null> {
  const { exif } = await readMetadata({ path, unlimited: true });
  if (exif === undefined) return written;
  const original = exif.toString('latin1', 0, EXIF_MARK.length) === EXIF_MARK ? exif.subarray(EXIF_MARK.length) : exif;
  const blanked = withoutThumbnail(original);
  if (blanked === null) return written;
  const file = await readWhole(path);
  const at = file.indexOf(original);
  if (at === -1) return written;
  blanked.copy(file, at);
  const [type, end] = [at - PNG_CHUNK.length, at + blanked.length];
  if (file.toString('latin1', type, at) === PNG_CHUNK) file.writeUInt32BE(crc32(file.subarray(type, end)), end);
  return { ...written, ...(await writeWhole(path, file)) };
}

const [THUMBNAIL_OFFSET, THUMBNAIL_LENGTH] = [0x02_01, 0x02_02];

/** Returns a copy of a block of EXIF whose thumbnail is blanked; null without one or when the block is damaged. */
export function withoutThumbnail(exif: Buffer): Buffer | null {
  try {
    const tiff = openTiff(Buffer.from(exif));
    const image = readFirstDirectory(tiff);
    if (image === null || image.next === 0) return null;
    const { range, entries } = readDirectoryAt(tiff, image.next);
    const numberOf = (tag: number): number => entries.find((entry) => entry.tag === tag)?.number ?? 0;
    const start = numberOf(THUMBNAIL_OFFSET);
    const pixels = { start, end: Math.min(tiff.file.length, start + numberOf(THUMBNAIL_LENGTH)) };
    tiff.writeNumber(0, image.linkAt, tiff.coding.offsetBytes);
    for (const { start: from, end } of [pixels, range, ...entries.map(({ values }) => values)])
      tiff.file.fill(0, from, end);
    return tiff.file;
  } catch (error) {
    if (error instanceof MediaError) return null;
    throw error;
  }
}
