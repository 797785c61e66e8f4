import { readFile, writeFile } from 'node:fs/promises';
import { withFileReader } from '#worker-image/engine/containers/file-reader.ts';
import {
  findCroppedScreen,
  isRecoverable,
  widenScreen,
} from '#worker-image/engine/image/loaders/gif-logical-screen.ts';
import {
  scratchPath,
  libvipsPicture,
  openPixels,
  readMetadata,
} from '#worker-image/engine/image/loaders/libvips-picture.ts';
import type { DecoderDeps, ImageFile, Picture } from '#worker-image/engine/image/picture.ts';
import type { ImageSize } from '#worker-image/engine/image/resize-image.ts';

/** Loads GIF. libvips crops the margins of some logical screens. */
export async function loadGif(_deps: DecoderDeps, file: ImageFile): Promise<Picture> {
  const { path, maxPixels } = file;
  const head = await withFileReader(path, (gif) => Promise.resolve(gif.head));
  const metadata = await readMetadata({ path, animated: true });
  const { width, height, pageHeight = height, pages: frames = 1 } = metadata;
  const covered = { width, height: pageHeight };
  const screen = findCroppedScreen(head, covered);
  const gif = { file, path, metadata, animated: true, frames };
  if (screen === null) return libvipsPicture({ ...gif, size: covered });
  if (!isRecoverable(screen, metadata)) return libvipsPicture({ ...gif, ...cropped(screen, covered, maxPixels) });
  return libvipsPicture({
    ...gif,
    size: screen,
    decode: async () => {
      const copy = scratchPath(file, 'screen.gif');
      await writeFile(copy, widenScreen(await readFile(path), screen));
      const region = { left: 0, top: 0, ...screen };
      return openPixels({ ...gif, path: copy, size: screen, maxPixels, region });
    },
  });
}

/** Returns the size that counts against the limit. A screen within it is shown without its margins, with a warning. */
function cropped(screen: ImageSize, covered: ImageSize, maxPixels: number): { size: ImageSize; warning?: string } {
  const { width, height } = screen;
  if (width * height > maxPixels) return { size: screen };
  const warning = `The canvas of the GIF is ${width} × ${height} pixels, its frames cover ${covered.width} × ${covered.height} of them: empty margins are dropped when it is encoded again.`;
  return { size: covered, warning };
}
