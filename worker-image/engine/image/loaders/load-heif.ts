/** AVIF and HEIC. The container is read once, for everything that libheif does not report or does differently. */
import { readFile } from 'node:fs/promises';
import type { Metadata } from 'sharp';
import { MediaError } from '#crds/contract/media-error.ts';
import { countItems, countSequenceFrames, isLimitedRangeGray } from '#worker-image/engine/containers/heif-structure.ts';
import { withFileReader } from '#worker-image/engine/containers/file-reader.ts';
import { findAlphaFault } from '#worker-image/engine/image/loaders/alpha-orientation.ts';
import { decodeHeif } from '#worker-image/engine/image/loaders/decode-heif.ts';
import { writeStillImage } from '#worker-image/engine/image/loaders/heif-brands.ts';
import {
  scratchPath,
  libvipsPicture,
  openDecoded,
  openPixels,
  readMetadata,
} from '#worker-image/engine/image/loaders/libvips-picture.ts';
import { widenRange } from '#worker-image/engine/image/loaders/limited-range-gray.ts';
import type { DecoderDeps, ImageFile, Picture, PixelSource } from '#worker-image/engine/image/picture.ts';
import { containsGainMapItem } from '#worker-image/engine/image/warnings/gain-map.ts';

/** Facts of a HEIF file that is read once. */
interface HeifFile {
  readonly file: ImageFile;
  /** The file itself, or a copy that libvips reads. */
  readonly path: string;
  readonly metadata: Metadata;
  readonly frames: number;
  /** libheif opens such a file only without its limit. */
  readonly unlimited: boolean;
  readonly isLimitedRange: boolean;
  /** Null when the transparency is oriented like the image. */
  readonly alphaFault: Error | null;
}

/** Size above which the tool decodes an AVIF, in pixels: 100 megapixels take 1.4 GB there and 1.8 GB in sharp. */
const MAX_LIBRARY_PIXELS = 32_000_000;
/** Items of a file that libheif opens by default. */
const DEFAULT_ITEMS = 256;
/** Maximum number of items. With tiles of 512 pixels they make an image of 1,000 megapixels. */
const MAX_ITEMS = 4096;
const DECODE_SECONDS = 600;
const VERIFY_SECONDS = 300;
const EXIF_MARK = Buffer.from('Exif\0\0', 'latin1');

export async function loadAvif(_deps: DecoderDeps, file: ImageFile): Promise<Picture> {
  const heif = await readHeif(file);
  const { path, metadata, unlimited } = heif;
  const { maxPixels } = file;
  const correct = heif.isLimitedRange ? widenRange : undefined;
  const { width, height } = metadata.autoOrient;
  const isLarge = width * height > MAX_LIBRARY_PIXELS && !unlimited;
  return heifPicture(heif, async (deps) =>
    isLarge
      ? openDecoded(await decodeToTiff(deps, file, path), { maxPixels, correct })
      : openPixels({ path, metadata, unlimited, maxPixels, correct }),
  );
}

/** Loads HEIC, which a tool decodes: sharp's libheif has no HEVC decoder. */
export async function loadHeic(_deps: DecoderDeps, file: ImageFile): Promise<Picture> {
  const heif = await readHeif(file);
  const picture = heifPicture(heif, async (deps) => openDecoded(await decodeToTiff(deps, file, file.path), file));
  return { ...picture, verify: (deps) => verifyHeic(deps, file) };
}

function readHeif(file: ImageFile): Promise<HeifFile> {
  return withFileReader(file.path, async (heif) => {
    const copy = scratchPath(file, 'still.heif');
    const path = (await writeStillImage(heif, copy)) ? copy : file.path;
    const items = await countItems(heif);
    const unlimited = items > DEFAULT_ITEMS && items <= MAX_ITEMS;
    const metadata = await readMetadata({ path, unlimited });
    return {
      file,
      path,
      metadata,
      unlimited,
      frames: Math.max(1, await countSequenceFrames(heif)),
      isLimitedRange: await isLimitedRangeGray(heif),
      alphaFault: metadata.hasAlpha ? await findAlphaFault(heif) : null,
    };
  });
}

function heifPicture(heif: HeifFile, decode: (deps: DecoderDeps) => Promise<PixelSource>): Picture {
  const { file, path, metadata, frames, unlimited, alphaFault } = heif;
  return libvipsPicture({
    file,
    path,
    metadata,
    frames,
    unlimited,
    isLossy: true,
    decode: (deps) => (alphaFault === null ? decode(deps) : Promise.reject(alphaFault)),
    readExif: () => Promise.resolve(tiffStructureOf(metadata)),
    hasGainMap: async () => containsGainMapItem(await readFile(file.path)),
  });
}

function tiffStructureOf({ exif }: Metadata): Buffer | null {
  if (exif === undefined) return null;
  return exif.indexOf(EXIF_MARK) === 0 ? exif.subarray(EXIF_MARK.length) : exif;
}

/** @param path The file, or a copy that libvips reads. */
async function decodeToTiff(deps: DecoderDeps, file: ImageFile, path: string): Promise<string> {
  const decoded = scratchPath(file, 'decoded.tif');
  const { directory } = file;
  const fault = await decodeHeif(deps, { path, directory, timeoutSeconds: DECODE_SECONDS }, decoded);
  if (fault === null) return decoded;
  throw new MediaError(
    'processing_failed',
    `The ${file.format.toUpperCase()} file is damaged or uses a feature that is not supported. Check that it opens in a viewer and send it again.`,
    { cause: new Error(fault) },
  );
}

async function verifyHeic(deps: DecoderDeps, file: ImageFile): Promise<void> {
  const { path, directory } = file;
  const decoded = scratchPath(file, 'verified.tif');
  const fault = await decodeHeif(deps, { path, directory, timeoutSeconds: VERIFY_SECONDS }, decoded);
  if (fault !== null) throw new Error(`The HEIC output does not decode: ${fault}`);
}
