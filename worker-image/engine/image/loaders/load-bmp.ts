import { readFile } from 'node:fs/promises';
import { withFileReader } from '#worker-image/engine/containers/file-reader.ts';
import { readBmpHeader } from '#worker-image/engine/image/loaders/bmp-header.ts';
import { decodeBmp } from '#worker-image/engine/image/loaders/decode-bmp.ts';
import { loadSharp } from '#worker-image/engine/image/load-sharp.ts';
import type { DecoderDeps, ImageFile, Picture, PixelSource } from '#worker-image/engine/image/picture.ts';

/** Loads BMP, which is decoded here: libvips has no decoder for it. */
export async function loadBmp(_deps: DecoderDeps, file: ImageFile): Promise<Picture> {
  const { path } = file;
  const { width, height } = await withFileReader(path, (bmp) => Promise.resolve(readBmpHeader(bmp.head)));
  return {
    file,
    size: { width, height },
    frames: 1,
    isLossy: false,
    warning: null,
    animation: null,
    decode: () => openBmp(path),
    verify: async () => void decodeBmp(await readFile(path)),
    readExif: () => Promise.resolve(null),
    hasGainMap: () => Promise.resolve(false),
  };
}

async function openBmp(path: string): Promise<PixelSource> {
  const sharp = await loadSharp();
  const { data, isPalette, ...raw } = decodeBmp(await readFile(path));
  const start: PixelSource['start'] = () => sharp(data, { raw, limitInputPixels: false });
  const metadata = await start({ animated: false, keepProfile: false }).metadata();
  const size = { width: raw.width, height: raw.height };
  return { metadata, size, frames: 1, pages: 1, isDrawn: isPalette || raw.channels === 4, start };
}
