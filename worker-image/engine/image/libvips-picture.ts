/**
 * sharp, configured for untrusted files, and the pictures that its library libvips reads: from the file itself or from a
 * copy that it reads correctly. Only six loaders are unblocked: the build would also render SVG, and read the thumbnail of
 * a camera RAW as the image. Nothing is cached, and few threads are used.
 */
import { availableParallelism } from 'node:os';
import { basename, join } from 'node:path';
import sharp, { type Metadata, type Region, type Sharp, type SharpOptions } from 'sharp';
import { MediaError } from '#crds/contract/media-error.ts';
import { withFileReader } from '#worker-image/engine/containers/file-reader.ts';
import { readJpegHeaders } from '#worker-image/engine/containers/jpeg-headers.ts';
import { hasMotionVideo } from '#worker-image/engine/image/motion-photo.ts';
import type { Animation, ImageFile, ImageSize, Picture, PixelSource } from '#worker-image/engine/image/picture.ts';
import { readWhole } from '#worker-image/engine/image/read-whole.ts';

const LOADERS = ['Jpeg', 'Png', 'Webp', 'Nsgif', 'Heif', 'Tiff'].map((name) => `VipsForeignLoad${name}`);
const MAX_THREADS = 4;

sharp.cache(false);
sharp.concurrency(Math.min(MAX_THREADS, availableParallelism()));
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({ operation: LOADERS });

export { sharp };

/** Options by which libvips reads one file. */
interface LibvipsFile {
  readonly path: string;
  /** Reads the frames of an animation one below the other. */
  readonly animated?: boolean | undefined;
  /** Lifts all limits of libheif. Verify what it allocates memory for first. */
  readonly unlimited?: boolean | undefined;
}

interface LibvipsPixels extends LibvipsFile, Pick<PixelSource, 'resolution' | 'warnings'> {
  readonly metadata: Metadata;
  readonly maxPixels: number;
  readonly frames?: number;
  readonly size?: ImageSize;
  readonly pages?: number;
  /** Region of the file that is the image. */
  readonly region?: Region;
  /** Correction of samples that libvips reads in another range. */
  readonly correct?: ((pipeline: Sharp, metadata: Metadata) => Sharp) | undefined;
}

/** Everything but the file replaces what differs from an image that libvips reads as it is. */
interface LibvipsPicture extends Partial<LibvipsFile>, Partial<Omit<Picture, 'file' | 'animation' | 'verify'>> {
  readonly file: ImageFile;
  readonly metadata?: Metadata;
  /** True for JPEG, whose files may name a gain map and the video of a motion photo. */
  readonly isJpeg?: true;
}

/** What most still images have in common. */
export const STILL_IMAGE = {
  frames: 1,
  isLossy: false,
  warning: null,
  animation: null,
} as const satisfies Partial<Picture>;

/** Returns a picture that libvips reads. @throws MediaError processing_failed when it cannot read the headers. */
export async function libvipsPicture({ file, ...differing }: LibvipsPicture): Promise<Picture> {
  const { path = file.path, animated = false, unlimited = false, metadata: known, isJpeg, ...more } = differing;
  const libvips = { path, animated, unlimited };
  const metadata = known ?? (await readMetadata(libvips));
  const { frames = countFrames(metadata, animated), size = shownSize(metadata, animated) } = more;
  return {
    ...STILL_IMAGE,
    decode: () => openPixels({ ...libvips, metadata, size, maxPixels: file.maxPixels, frames: animated ? frames : 1 }),
    ...(isJpeg && { hasGainMap: () => hasGainMap(file.path), hasMotionVideo: () => hasMotionVideo(file.path) }),
    ...more,
    file,
    size,
    frames,
    animation: animated ? readAnimation(libvips, metadata) : null,
    verify: async (_deps, part) =>
      void (await readThumbnail(part === undefined ? libvips : { ...libvips, animated: false })),
  };
}

function countFrames({ pages = 1 }: Metadata, animated: boolean): number {
  return animated ? pages : 1;
}

function shownSize(
  { width, height, pageHeight = height, pages = 1, autoOrient }: Metadata,
  animated: boolean,
): ImageSize {
  return animated && pages > 1 ? { width, height: pageHeight } : autoOrient;
}

/** Returns what libvips reads from the headers. @throws MediaError processing_failed when it cannot read them. */
export function readMetadata(
  { path, ...options }: LibvipsFile,
  limitInputPixels: number | false = false,
): Promise<Metadata> {
  return withImageErrors('Reading the image', () => sharp(path, { limitInputPixels, ...options }).metadata());
}

/**
 * Runs an operation of sharp and refuses the file for an error that it throws.
 * @throws MediaError processing_failed. An invalid parameter ("Expected …") is a bug and thrown as it is.
 */
export async function withImageErrors<T>(doing: string, operation: () => Promise<T>): Promise<T> {
  try {
    return await operation();
  } catch (error) {
    if (error instanceof MediaError || !(error instanceof Error) || error.message.startsWith('Expected ')) throw error;
    const why = error.message.startsWith('Processed image is too large')
      ? 'a side of the image is longer than the format allows. Choose another format or a smaller size.'
      : 'the file is damaged, not complete, or uses a feature that is not supported. Check that it opens in a viewer and send it again.';
    throw new MediaError('processing_failed', `${doing} failed: ${why}`, { cause: error });
  }
}

/** Returns pixels that sharp reads. Their size was checked against the limit by the headers. */
export function openPixels(pixels: LibvipsPixels): Promise<PixelSource> {
  const { path, metadata, size = metadata.autoOrient, maxPixels, frames = 1, pages = 1 } = pixels;
  const { resolution, warnings = [], unlimited = false, region, correct = (pipeline) => pipeline } = pixels;
  return Promise.resolve({
    metadata,
    size,
    frames,
    pages,
    resolution,
    warnings,
    isDrawn: metadata.hasAlpha || metadata.isPalette || (metadata.bitsPerSample ?? 8) < 8,
    start: ({ animated, keepProfile }) => {
      const options: SharpOptions = {
        limitInputPixels: maxPixels * frames,
        failOn: 'error',
        animated: animated && frames > 1,
        ignoreIcc: keepProfile,
        unlimited,
      };
      if (region !== undefined) return sharp(path, options).extract(region);
      // libvips does not rotate animations, so their size is that of the file, and so is that of their first frame.
      return frames > 1 ? sharp(path, options) : correct(sharp(path, options).autoOrient(), metadata);
    },
  });
}

/** Opens a file that another decoder wrote. @throws MediaError processing_failed when libvips cannot read it. */
export async function openDecoded(
  path: string,
  { maxPixels, ...more }: Pick<LibvipsPixels, 'maxPixels' | 'correct' | 'pages' | 'resolution' | 'warnings'>,
): Promise<PixelSource> {
  const metadata = await readMetadata({ path }, maxPixels);
  return openPixels({ ...more, path, metadata, maxPixels });
}

/** Edge length of the thumbnail that proves a file complete, in pixels: decoders read the whole file, JPEG's faster. */
const THUMBNAIL_SIDE = 32;

/** Decodes the whole file and returns the samples of all frames at thumbnail size. @throws Error when it is damaged. */
export function readThumbnail({ path, ...options }: LibvipsFile): Promise<Buffer> {
  return sharp(path, { limitInputPixels: false, failOn: 'error', ...options })
    .resize(THUMBNAIL_SIDE, THUMBNAIL_SIDE, { fit: 'fill' })
    .raw()
    .toBuffer();
}

function readAnimation(libvips: LibvipsFile, { delay = [], pages = 1 }: Metadata): Animation {
  return { delays: delay, frames: pages, isStill: async () => isStill(await readThumbnail(libvips), pages) };
}

function isStill(samples: Buffer, frames: number): boolean {
  const bytes = samples.length / frames;
  const first = samples.subarray(0, bytes);
  return Array.from({ length: frames }, (_, i) => samples.subarray(i * bytes, (i + 1) * bytes)).every((frame) =>
    frame.equals(first),
  );
}

/** Returns the path of a file beside the outputs, named after the image that it is made from. */
export function scratchPath({ path, directory }: Pick<ImageFile, 'path' | 'directory'>, name: string): string {
  return join(directory, `${basename(path)}.${name}`);
}

/**
 * Names that Google and Adobe, Apple twice, and ISO 21496-1 give gain maps: second images by which screens of high dynamic
 * range show parts of the first one brighter.
 */
const GAIN_MAP_NAMES = [
  'http://ns.adobe.com/hdr-gain-map/1.0/',
  'urn:com:apple:photo:2020:aux:hdrgainmap',
  'http://ns.apple.com/HDRGainMap/1.0/',
  'urn:iso:std:iso:ts:21496:-1',
];

export const GAIN_MAP_WARNING =
  'The image has a gain map for HDR screens, which was dropped: the result shows standard dynamic range.';

/** Identifier of the index of further images in the headers of a JPEG (CIPA DC-007). */
const IMAGE_INDEX = 'MPF\0';

/** Returns whether a JPEG has a gain map. Only a file whose headers name a further image is read to its end. */
async function hasGainMap(path: string): Promise<boolean> {
  const headers = await withFileReader(path, readJpegHeaders);
  return namesGainMap(headers) || (headers.includes(IMAGE_INDEX) && namesGainMap(await readWhole(path)));
}

/** Returns whether the file names a gain map beside the image that every program shows. */
export function namesGainMap(file: Buffer): boolean {
  return GAIN_MAP_NAMES.some((name) => file.includes(name));
}
