/** Pictures whose pixels libvips reads, from the file itself or from a copy that it reads correctly. */
import { basename, join } from 'node:path';
import type { Metadata, Region, Sharp, SharpOptions } from 'sharp';
import { withImageErrors } from '#worker-image/engine/image/image-errors.ts';
import { loadSharp } from '#worker-image/engine/image/load-sharp.ts';
import type { Animation, ImageFile, Picture, PixelSource } from '#worker-image/engine/image/picture.ts';
import type { ImageSize } from '#worker-image/engine/image/resize-image.ts';

/** Options by which libvips reads one file. */
interface LibvipsFile {
  readonly path: string;
  /** Reads the frames of an animation one below the other. */
  readonly animated?: boolean | undefined;
  /** Lifts libheif's limit on the number of items. */
  readonly unlimited?: boolean | undefined;
}

interface LibvipsPixels extends LibvipsFile {
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

interface LibvipsPicture extends LibvipsFile {
  readonly file: ImageFile;
  readonly metadata: Metadata;
  readonly size?: ImageSize;
  readonly frames?: number;
  readonly isLossy?: boolean;
  readonly warning?: string | null;
  /** Replaces what differs from an image that libvips reads as it is. */
  readonly decode?: Picture['decode'];
  readonly readExif?: Picture['readExif'];
  readonly hasGainMap?: Picture['hasGainMap'];
}

/** Edge length of the thumbnail that proves a file complete, in pixels: decoders read the whole file, JPEG's faster. */
const THUMBNAIL_SIDE = 32;

/** Returns the path of a file beside the outputs, named after the image that it is made from. */
export function scratchPath({ path, directory }: Pick<ImageFile, 'path' | 'directory'>, name: string): string {
  return join(directory, `${basename(path)}.${name}`);
}

/** Returns what libvips reads from the headers. @throws MediaError processing_failed when it cannot read them. */
export async function readMetadata(
  { path, ...options }: LibvipsFile,
  limitInputPixels: number | false = false,
): Promise<Metadata> {
  const sharp = await loadSharp();
  return withImageErrors('Reading the image', () => sharp(path, { limitInputPixels, ...options }).metadata());
}

/** Returns a picture that libvips reads. Loaders of odd formats override what differs. */
export function libvipsPicture({ file, path, metadata, ...differing }: LibvipsPicture): Picture {
  const { animated = false, unlimited = false, frames = 1, size = metadata.autoOrient, ...more } = differing;
  const libvips = { path, animated, unlimited };
  return {
    isLossy: false,
    warning: null,
    decode: () => openPixels({ ...libvips, metadata, size, maxPixels: file.maxPixels, frames: animated ? frames : 1 }),
    readExif: () => Promise.resolve(null),
    hasGainMap: () => Promise.resolve(false),
    ...more,
    file,
    size,
    frames,
    animation: animated ? readAnimation(libvips, metadata) : null,
    verify: async () => void (await readThumbnail(libvips)),
  };
}

/** Returns pixels that sharp reads. Their size was checked against the limit by the headers. */
export async function openPixels(pixels: LibvipsPixels): Promise<PixelSource> {
  const { path, metadata, size = metadata.autoOrient, maxPixels, frames = 1, pages = 1 } = pixels;
  const { unlimited = false, region, correct = (pipeline) => pipeline } = pixels;
  const sharp = await loadSharp();
  return {
    metadata,
    size,
    frames,
    pages,
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
      return options.animated === true ? sharp(path, options) : correct(sharp(path, options).autoOrient(), metadata);
    },
  };
}

/** Opens a file that another decoder wrote. @throws MediaError processing_failed when libvips cannot read it. */
export async function openDecoded(
  path: string,
  { maxPixels, correct }: Pick<LibvipsPixels, 'maxPixels' | 'correct'>,
): Promise<PixelSource> {
  const metadata = await readMetadata({ path }, maxPixels);
  return openPixels({ path, metadata, maxPixels, correct });
}

/** Decodes the whole file and returns the samples of all frames at thumbnail size. @throws Error when it is damaged. */
export async function readThumbnail({ path, ...options }: LibvipsFile): Promise<Buffer> {
  const sharp = await loadSharp();
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
