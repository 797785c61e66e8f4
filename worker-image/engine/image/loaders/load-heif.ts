/** AVIF and HEIC. The container is read once, for everything that libheif does not report or does differently. */
import { access, copyFile, open } from 'node:fs/promises';
import type { Metadata, Sharp } from 'sharp';
import { MediaError } from '#crds/contract/media-error.ts';
import { withFileReader, type FileReader } from '#worker-image/engine/containers/file-reader.ts';
import { readNclx } from '#worker-image/engine/containers/heif-colors.ts';
import {
  countItems,
  countSequenceFrames,
  isLimitedRangeGray,
  verifyItemLocations,
} from '#worker-image/engine/containers/heif-structure.ts';
import { readTopBoxes } from '#worker-image/engine/containers/iso-boxes.ts';
import { readExifBlock } from '#worker-image/engine/image/carried-exif.ts';
import { colorSpaceOf, type ColorSpace } from '#worker-image/engine/image/color/color-space.ts';
import { openConverted } from '#worker-image/engine/image/color/convert-colors.ts';
import {
  libvipsPicture,
  namesGainMap,
  openDecoded,
  openPixels,
  readMetadata,
  scratchPath,
} from '#worker-image/engine/image/libvips-picture.ts';
import { findAlphaFault } from '#worker-image/engine/image/loaders/alpha-orientation.ts';
import type { DecoderDeps, ImageFile, Picture, PixelSource } from '#worker-image/engine/image/picture.ts';
import { readWhole } from '#worker-image/engine/image/read-whole.ts';

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
  /** Color space that the file names by numbers; null for sRGB and beside an ICC profile. */
  readonly color: ColorSpace | null;
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
/** Bytes that hold the list of items of a HEIF. */
const ITEM_LIST_BYTES = 65_536;

export async function loadAvif(_deps: DecoderDeps, file: ImageFile): Promise<Picture> {
  const heif = await readHeif(file);
  const { path, metadata, unlimited } = heif;
  const { maxPixels } = file;
  const correct = heif.isLimitedRange ? widenRange : undefined;
  const { width, height } = metadata.autoOrient;
  const isLarge = width * height > MAX_LIBRARY_PIXELS && !unlimited;
  return heifPicture(heif, async (deps) => {
    if (heif.color !== null && correct === undefined) return openColors(deps, heif, heif.color);
    return isLarge
      ? openDecoded(await decodeToTiff(deps, file, path), { maxPixels, correct })
      : openPixels({ path, metadata, unlimited, maxPixels, correct });
  });
}

async function openColors(
  deps: DecoderDeps,
  { file, path, metadata }: HeifFile,
  color: ColorSpace,
): Promise<PixelSource> {
  const decoded = await decodeToTiff(deps, file, path);
  return openConverted(deps, { file, path: decoded, metadata, color, samples: 'rgb' });
}

/** Loads HEIC, which a tool decodes: sharp's libheif has no HEVC decoder. */
export async function loadHeic(_deps: DecoderDeps, file: ImageFile): Promise<Picture> {
  const heif = await readHeif(file);
  const picture = await heifPicture(heif, async (deps) =>
    heif.color === null
      ? openDecoded(await decodeToTiff(deps, file, file.path), file)
      : openColors(deps, { ...heif, path: file.path }, heif.color),
  );
  return { ...picture, verify: (deps) => verifyHeic(deps, file) };
}

function readHeif(file: ImageFile): Promise<HeifFile> {
  return withFileReader(file.path, async (heif) => {
    const path = await writeStillImage(heif, file);
    const items = await countItems(heif);
    const unlimited = items > DEFAULT_ITEMS && items <= MAX_ITEMS;
    if (unlimited) await verifyItemLocations(heif);
    const metadata = await readMetadata({ path, unlimited });
    return {
      file,
      path,
      metadata,
      unlimited,
      frames: Math.max(1, await countSequenceFrames(heif)),
      isLimitedRange: await isLimitedRangeGray(heif),
      color: metadata.icc === undefined ? colorSpaceOf(await readNclx(heif)) : null,
      alphaFault: metadata.hasAlpha ? await findAlphaFault(heif) : null,
    };
  });
}

function heifPicture(heif: HeifFile, decode: (deps: DecoderDeps) => Promise<PixelSource>): Promise<Picture> {
  const { file, path, metadata, frames, unlimited, alphaFault } = heif;
  return libvipsPicture({
    file,
    path,
    metadata,
    frames,
    unlimited,
    isLossy: true,
    decode: (deps) => (alphaFault === null ? decode(deps) : Promise.reject(alphaFault)),
    readExif: () => readExifBlock(metadata.exif),
    ...(heif.color?.isHdr === true && { isHdr: true }),
    hasGainMap: async () => containsGainMap(await readWhole(file.path)),
    hasMotionVideo: () => withFileReader(file.path, containsMotionVideo),
  });
}

/** Returns whether the file names a gain map or lists an item that is one. */
function containsGainMap(heif: Buffer): boolean {
  return namesGainMap(heif) || heif.subarray(0, ITEM_LIST_BYTES).includes('tmap');
}

/** Returns whether the file has the box with the video of a motion photo. */
async function containsMotionVideo(heif: FileReader): Promise<boolean> {
  return (await readTopBoxes(heif)).some(({ type }) => type === 'mpvd');
}

/** @param path The file, or a copy that libvips reads. */
async function decodeToTiff(deps: DecoderDeps, file: ImageFile, path: string): Promise<string> {
  const decoded = scratchPath(file, 'decoded.tif');
  const fault = await decodeHeif(deps, { file, path, timeoutSeconds: DECODE_SECONDS }, decoded);
  if (fault === null) return decoded;
  throw new MediaError(
    'processing_failed',
    `The ${file.format.toUpperCase()} file is damaged or uses a feature that is not supported. Check that it opens in a viewer and send it again.`,
    { cause: new Error(fault) },
  );
}

async function verifyHeic(deps: DecoderDeps, file: ImageFile): Promise<void> {
  const { path } = file;
  const fault = await decodeHeif(
    deps,
    { file, path, timeoutSeconds: VERIFY_SECONDS },
    scratchPath(file, 'verified.tif'),
  );
  if (fault !== null) throw new Error('The HEIC output does not decode.', { cause: new Error(fault) });
}

/**
 * Writes an uncompressed TIFF, upright, with profile, EXIF and XMP. Returns null, or the error text of libvips' program
 * for a file that does not decode. The loader is named, as libvips would try others. Access is sequential: above 100 MB
 * libvips otherwise rotates the pixels but keeps the orientation tag, so viewers would rotate twice.
 */
async function decodeHeif(
  { run, signal }: DecoderDeps,
  { file, path, timeoutSeconds }: { file: ImageFile; path: string; timeoutSeconds: number },
  to: string,
): Promise<string | null> {
  const args = ['heifload', path, `${to}[compression=none]`, '--access', 'sequential'];
  const env = { VIPS_BLOCK_UNTRUSTED: '1' };
  const { stderr } = await run({ file: 'vips', args, directory: file.directory, signal, timeoutSeconds, env });
  return access(to).then(
    () => null,
    () => stderr.slice(0, 500),
  );
}

const [BLACK, WHITE] = [16, 235];

/**
 * Scales the samples of a gray AVIF from the limited range, 16 to 235 as in video, to the full one. libvips widens the
 * range of color images only.
 */
function widenRange(pipeline: Sharp, { depth }: Pick<Metadata, 'depth'>): Sharp {
  const scale = 255 / (WHITE - BLACK);
  return pipeline.linear(scale, -BLACK * scale * (depth === 'ushort' ? 257 : 1));
}

/** First brands that libvips does not read as an image (ISO/IEC 23000-22; AV1 Image File Format, 6). */
const UNREAD_BRANDS: ReadonlySet<string> = new Set(['avis', 'miaf', 'mif2']);
/** The brand of a file with a still image (ISO/IEC 23008-12). */
const STILL_IMAGE_BRAND = 'mif1';
const BRAND_AT = 8;
const OTHER_BRANDS_AT = 16;

/**
 * Returns the path of a copy with brands that libvips reads and without its sequence; of the file when libvips reads it.
 * Such files hold a still image beside their sequence.
 */
async function writeStillImage(heif: FileReader, image: ImageFile): Promise<string> {
  const patches = await findPatches(heif);
  if (patches.length === 0) return image.path;
  const copy = scratchPath(image, 'still.heif');
  await copyFile(heif.path, copy);
  await using file = await open(copy, 'r+');
  for (const { at, text } of patches) await file.write(text, at, 'latin1');
  return copy;
}

interface Patch {
  readonly at: number;
  readonly text: string;
}

async function findPatches(heif: FileReader): Promise<Patch[]> {
  const { head } = heif;
  if (!UNREAD_BRANDS.has(head.toString('latin1', BRAND_AT, BRAND_AT + 4))) return [];
  const boxes = await readTopBoxes(heif);
  const hasImage = boxes.some(({ type }) => type === 'meta');
  const sequences = hasImage ? boxes.filter(({ type }) => type === 'moov') : [];
  const otherBytes = hasImage ? Math.max(0, Math.min(head.readUInt32BE(0), head.length) - OTHER_BRANDS_AT) : 0;
  return [
    { at: BRAND_AT, text: STILL_IMAGE_BRAND },
    { at: OTHER_BRANDS_AT, text: STILL_IMAGE_BRAND.repeat(Math.floor(otherBytes / STILL_IMAGE_BRAND.length)) },
    ...sequences.map(({ start }) => ({ at: start + 4, text: 'free' })),
  ];
}
