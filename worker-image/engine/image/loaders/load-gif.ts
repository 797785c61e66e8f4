/** GIF, with the logical screen that browsers show, where libvips reads the area that the frames cover instead. */
import { writeFile } from 'node:fs/promises';
import type { Metadata } from 'sharp';
import { withFileReader } from '#worker-image/engine/containers/file-reader.ts';
import { endOfScreen, GIF_TRAILER, gifBlocks } from '#worker-image/engine/containers/gif-blocks.ts';
import { isDefaultScreen } from '#worker-image/engine/image/gif-logical-screen.ts';
import { libvipsPicture, openPixels, readMetadata, scratchPath } from '#worker-image/engine/image/libvips-picture.ts';
import type { DecoderDeps, ImageFile, ImageSize, Picture } from '#worker-image/engine/image/picture.ts';
import { readWhole } from '#worker-image/engine/image/read-whole.ts';

export async function loadGif(_deps: DecoderDeps, file: ImageFile): Promise<Picture> {
  const { maxPixels } = file;
  const { head, last } = await withFileReader(file.path, async (gif) => ({
    head: gif.head,
    last: await gif.read(gif.size - 1, 1),
  }));
  const path = last[0] === GIF_TRAILER ? file.path : await withoutTail(file);
  const metadata = await readMetadata({ path, animated: true });
  const { width, height, pageHeight = height, pages: frames = 1 } = metadata;
  const covered = { width, height: pageHeight };
  const screen = findCroppedScreen(head, covered);
  const gif = { file, path, metadata, animated: true, frames };
  if (screen === null) return libvipsPicture(gif);
  if (!isRecoverable(screen, metadata)) return libvipsPicture({ ...gif, ...cropped(screen, covered, maxPixels) });
  return libvipsPicture({
    ...gif,
    size: screen,
    decode: async () => {
      const copy = scratchPath(file, 'screen.gif');
      await writeFile(copy, widenScreen(await readWhole(path), screen));
      const region = { left: 0, top: 0, ...screen };
      return openPixels({ ...gif, path: copy, size: screen, maxPixels, region });
    },
  });
}

/**
 * Returns the path of a copy without the bytes behind the trailer, which libvips takes for a damaged frame behind a comment.
 * Returns that of the file itself when it has no trailer.
 */
async function withoutTail(file: ImageFile): Promise<string> {
  const gif = await readWhole(file.path);
  const trailer = endOfGifBlocks(gif);
  if (trailer === null) return file.path;
  const copy = scratchPath(file, 'without-tail.gif');
  await writeFile(copy, gif.subarray(0, trailer + 1));
  return copy;
}

/** Returns the offset of the trailer; null for a file without one, and for a damaged one. */
function endOfGifBlocks(gif: Buffer): number | null {
  try {
    let end = endOfScreen(gif);
    for (const block of gifBlocks(gif)) ({ end } = block);
    return gif[end] === GIF_TRAILER ? end : null;
  } catch {
    return null;
  }
}

/** Returns the size that counts against the limit. A screen within it is shown without its margins, with a warning. */
function cropped(screen: ImageSize, covered: ImageSize, maxPixels: number): { size: ImageSize; warning?: string } {
  const { width, height } = screen;
  if (width * height > maxPixels) return { size: screen };
  const warning = `The canvas of the GIF is ${width}x${height} pixels, its frames cover ${covered.width}x${covered.height} of them: empty margins are dropped when it is encoded again.`;
  return { size: covered, warning };
}

const WIDTH_AT = 6;
const HEIGHT_AT = 8;
const HEADER_BYTES = 10;

/** Returns the logical screen when libvips would crop its margins, else null. @param head First bytes of the file. */
export function findCroppedScreen(head: Buffer, covered: ImageSize): ImageSize | null {
  if (head.length < HEADER_BYTES) return null;
  const screen = { width: head.readUInt16LE(WIDTH_AT), height: head.readUInt16LE(HEIGHT_AT) };
  return screen.width <= covered.width && screen.height <= covered.height ? null : screen;
}

/**
 * Returns whether libvips reads the margins of a copy with a wider screen as browsers show them. In a GIF without
 * transparency it would fill them with a color.
 */
export function isRecoverable(screen: ImageSize, { hasAlpha }: Pick<Metadata, 'hasAlpha'>): boolean {
  return hasAlpha && isDefaultScreen(screen);
}

/** Returns a copy with a screen one pixel wider, a size that libvips trusts. Crop the pixel after decoding. */
export function widenScreen(gif: Buffer, { width }: ImageSize): Buffer {
  const copy = Buffer.from(gif);
  copy.writeUInt16LE(width + 1, WIDTH_AT);
  return copy;
}
