/** Encodes one image or animation in a target format. */
import { join } from 'node:path';
import type { Metadata, Sharp } from 'sharp';
import { extensionOf, type ImageTarget } from '#crds/catalogue/formats.ts';
import type { ResolvedOptions } from '#crds/catalogue/options/options.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import type { Produced } from '#worker-image/engine/handler.ts';
import type { ExifFields } from '#worker-image/engine/image/carried-exif.ts';
import { encodeAvif } from '#worker-image/engine/image/encode/encode-avif.ts';
import { encodeBmp } from '#worker-image/engine/image/encode/encode-bmp.ts';
import { encodeGif } from '#worker-image/engine/image/encode/encode-gif.ts';
import { encodeHeic } from '#worker-image/engine/image/encode/encode-heic.ts';
import { encodeJpeg } from '#worker-image/engine/image/encode/encode-jpeg.ts';
import { encodePdf } from '#worker-image/engine/image/encode/encode-pdf.ts';
import { encodePng } from '#worker-image/engine/image/encode/encode-png.ts';
import { encodeWebp } from '#worker-image/engine/image/encode/encode-webp.ts';
import { encodeTiff } from '#worker-image/engine/image/encode/encode-tiff.ts';
import type { Encoder, EncoderDeps, Output } from '#worker-image/engine/image/encode/encoder.ts';
import { blankThumbnail } from '#worker-image/engine/image/encode/exif-thumbnail.ts';
import { withImageErrors } from '#worker-image/engine/image/libvips-picture.ts';
import type { ImageSize } from '#worker-image/engine/image/picture.ts';

interface TargetRow {
  readonly name: string;
  /** Longest side in pixels. The limits are those of the encoders. */
  readonly maxSide: number;
  readonly encode: Encoder;
  readonly alpha?: true;
  readonly animated?: true;
  readonly profile?: true;
  /** More than 8 bits per sample at the best quality, or at any. */
  readonly deep?: 'best' | 'any';
  readonly exif?: true;
}

const UNLIMITED = 2 ** 31 - 1;

/** Encoder and features of each target; a `pdf` holds one image on one page. */
export const TARGETS: Readonly<Record<ImageTarget, TargetRow>> = {
  jpg: { name: 'JPEG', maxSide: 65_500, encode: encodeJpeg, profile: true, exif: true },
  png: { name: 'PNG', maxSide: UNLIMITED, encode: encodePng, alpha: true, profile: true, deep: 'best', exif: true },
  webp: { name: 'WebP', maxSide: 16_383, encode: encodeWebp, alpha: true, animated: true, profile: true, exif: true },
  avif: { name: 'AVIF', maxSide: 16_384, encode: encodeAvif, alpha: true, profile: true, deep: 'any', exif: true },
  heic: { name: 'HEIC', maxSide: 16_384, encode: encodeHeic, alpha: true, profile: true, exif: true },
  tiff: { name: 'TIFF', maxSide: UNLIMITED, encode: encodeTiff, alpha: true, profile: true, deep: 'best', exif: true },
  bmp: { name: 'BMP', maxSide: UNLIMITED, encode: encodeBmp },
  gif: { name: 'GIF', maxSide: 65_535, encode: encodeGif, alpha: true, animated: true },
  pdf: { name: 'PDF', maxSide: UNLIMITED, encode: encodePdf, alpha: true },
};

export type Resize = ResolvedOptions['image']['resize'];

export interface Encoding extends Pick<Output, 'picture' | 'source' | 'quality' | 'lossless'> {
  readonly target: ImageTarget;
  readonly resize: Resize;
  /** EXIF, XMP and similar metadata are copied; orientation becomes 1, as the pixels are rotated. */
  readonly keepMetadata: boolean;
  /** Details that the decoded image lacks; null for none. */
  readonly exif: ExifFields | null;
}

export type EncodedImage = Pick<Produced, 'path' | 'written'>;

/**
 * Writes the output into the work's directory and returns its path, with what was written where that is known.
 * @throws MediaError limit_exceeded when a side is longer than the format allows, processing_failed when
 * the input cannot be decoded.
 */
export async function encodeImage(deps: EncoderDeps, encoding: Encoding): Promise<EncodedImage> {
  const { picture, source, target, quality, lossless, resize, keepMetadata } = encoding;
  const { name, maxSide, encode, exif: hasExif } = TARGETS[target];
  const size = resizedSize(picture.size, resize);
  if (Math.max(size.width, size.height) > maxSide) {
    throw new MediaError(
      'limit_exceeded',
      `The image would be ${size.width} × ${size.height} pixels; the maximum side of ${name} is ${maxSide}. Choose another format or a smaller size.`,
    );
  }
  const path = join(picture.file.directory, `out.${extensionOf(target)}`);
  const isDeep = isWrittenDeep(encoding);
  const keptProfile = hasKeptProfile(source.metadata) ? (source.metadata.icc ?? null) : null;
  const pipeline = (): Sharp => prepare(encoding, isDeep, keptProfile !== null);
  const written = await withImageErrors(`Writing the ${name} file`, () =>
    encode(deps, { picture, source, pipeline, path, quality, lossless, size, isDeep, keptProfile }),
  );
  const isExifCopied = keepMetadata && hasExif === true && source.metadata.exif !== undefined;
  return { path, written: (isExifCopied ? await blankThumbnail(path, written) : written) ?? undefined };
}

/** Returns whether more than 8 bits per sample are written, which needs an input that has them. */
function isWrittenDeep({ source, target, lossless, quality }: Encoding): boolean {
  const { deep } = TARGETS[target];
  return source.metadata.depth === 'ushort' && (deep === 'any' || (deep === 'best' && (lossless || quality === 100)));
}

function prepare(
  { source, target, resize, keepMetadata, exif }: Encoding,
  isDeep: boolean,
  hasFittingProfile: boolean,
): Sharp {
  const row = TARGETS[target];
  const { metadata } = source;
  const keepProfile = row.profile === true && hasFittingProfile;
  let pipeline = resizeImage(source.start({ animated: row.animated === true, keepProfile }), source.size, resize);
  if (!row.alpha) pipeline = pipeline.flatten({ background: '#ffffff' });
  if (isDeep) pipeline = pipeline.toColourspace(metadata.channels <= 2 ? 'grey16' : 'rgb16');
  if (keepProfile) pipeline = pipeline.keepIccProfile();
  else if (becomesDisplayP3(metadata)) pipeline = pipeline.withIccProfile('srgb', { attach: false });
  // Where the samples were converted, keeping all metadata would attach a profile that no longer fits.
  const profileFits = keepProfile || !metadata.hasProfile;
  return keepMetadata && row.exif ? carryMetadata(pipeline, exif, profileFits) : pipeline;
}

function carryMetadata(pipeline: Sharp, exif: ExifFields | null, profileFits: boolean): Sharp {
  const kept = profileFits ? pipeline.keepMetadata() : pipeline.keepExif().keepXmp();
  return exif === null ? kept : kept.withExifMerge({ ...exif });
}

const COLOR_SPACE_OFFSET = 16;
/** libvips' name for RGB of 16 bits per sample. */
const DEEP_RGB = 'rgb16';
const SPACES: Readonly<Record<string, readonly string[]>> = {
  'RGB ': ['srgb', 'rgb', 'rgb16'],
  GRAY: ['grey16'],
};

/**
 * Returns whether the output keeps the profile with unchanged samples. That is any RGB profile other than sRGB, so that a
 * wide gamut is kept, and sRGB with samples of 16 bits, which libvips would convert through Display P3. A gray profile is
 * kept with samples of 16 bits, which libvips does not convert. With other profiles, such as CMYK and gray of 8 bits, the
 * samples are converted to sRGB: sharp writes gray of 8 bits as RGB, which a gray profile does not describe.
 */
export function hasKeptProfile({ icc, space }: Pick<Metadata, 'icc' | 'space'>): boolean {
  if (icc === undefined || icc.length < 128) return false;
  const fits = SPACES[icc.toString('latin1', COLOR_SPACE_OFFSET, COLOR_SPACE_OFFSET + 4)]?.includes(space) ?? false;
  return fits && (space === DEEP_RGB || !/s\0?R\0?G\0?B/.test(icc.toString('latin1')));
}

/** Returns whether libvips converts the samples to Display P3 when sRGB is requested. */
function becomesDisplayP3({ icc, space }: Metadata): boolean {
  return icc !== undefined && space === DEEP_RGB;
}

/**
 * Adds the resize to a pipeline. `fit`, `width` and `height` only shrink; `fill` returns exactly the requested size and
 * enlarges an image that does not cover it. Both sides are passed to sharp: it would compute a missing side from the
 * size that the decoder has already reduced and rounded, so that 3000 × 1500 became 201 × 100.
 * @param input Size as shown.
 */
export function resizeImage(pipeline: Sharp, input: ImageSize, resize: Resize): Sharp {
  if (resize === null) return pipeline;
  const { width, height } = resizedSize(input, resize);
  if (resize.mode === 'fill') return pipeline.resize({ width, height, fit: 'cover' });
  return width === input.width && height === input.height ? pipeline : pipeline.resize({ width, height, fit: 'fill' });
}

/** Returns the output size in whole pixels, in the aspect ratio of the input. See docs/reference/options.md#image. */
export function resizedSize(input: ImageSize, resize: Resize): ImageSize {
  if (resize === null) return input;
  if (resize.mode === 'fill') return { width: resize.width, height: resize.height };
  const scale = Math.min(
    1,
    resize.mode === 'height' ? 1 : resize.width / input.width,
    resize.mode === 'width' ? 1 : resize.height / input.height,
  );
  return { width: Math.max(1, Math.round(input.width * scale)), height: Math.max(1, Math.round(input.height * scale)) };
}
