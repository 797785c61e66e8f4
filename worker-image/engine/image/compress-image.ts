/** Compresses an image. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FORMATS, type Format } from '#crds/catalogue/formats.ts';
import type { Work } from '#worker-image/engine/handler.ts';
import { carriedExif, type CarriedExif } from '#worker-image/engine/image/encode/carried-exif.ts';
import { encodeImage } from '#worker-image/engine/image/encode/encode-image.ts';
import { recompressAnimatedPng } from '#worker-image/engine/image/encode/recompress-png.ts';
import {
  openFacts,
  type ImageDeps,
  type ImageFacts,
  type ProducedImage,
} from '#worker-image/engine/image/image-facts.ts';
import { isImageTarget, TARGETS, type ImageTarget } from '#worker-image/engine/image/image-formats.ts';
import type { PixelSource } from '#worker-image/engine/image/picture.ts';
import { droppedContentWarnings } from '#worker-image/engine/image/warnings/dropped-content-warnings.ts';

const ANIMATED_PNG_WARNING = 'An animated PNG keeps its dimensions and pixels: only its compression was improved.';
/** Bytes of an RGBA pixel of 16 bits, and one for the filter byte of each row. */
const MAX_PIXEL_BYTES = 9;

/**
 * Encodes the image in the requested size and format. The pipeline decides whether the result is small enough to be
 * returned. @throws MediaError processing_failed, limit_exceeded.
 */
export async function compressImage(deps: ImageDeps, work: Work, { picture }: ImageFacts): Promise<ProducedImage> {
  const { image: options } = work.options;
  const format = picture.file.format;
  const staysPng = format === 'png' && (options.format === 'original' || options.format === 'png');
  if (staysPng && picture.frames > 1) return compressAnimatedPng(deps, work);
  const source = await picture.decode(deps);
  deps.onProgress(30);
  const target = options.format === 'original' ? originalTarget(format, source) : options.format;
  const keepMetadata = !options.strip_metadata || target === 'png';
  const exif = keepMetadata ? await carriedExif(picture, source) : null;
  const path = await encodeImage(deps, {
    picture,
    source,
    target,
    quality: options.quality,
    lossless: false,
    resize: options.resize,
    keepMetadata,
    exif: exif === 'unreadable' ? null : exif,
  });
  deps.onProgress(90);
  return {
    path,
    format: target,
    facts: await openFacts(deps, work, { path, format: target }),
    warnings: [
      ...(await droppedContentWarnings({ picture, source, target })),
      ...(options.strip_metadata ? [] : detailWarnings({ format, target, exif, source })),
    ],
  };
}

interface KeptDetails {
  readonly format: Format;
  readonly target: ImageTarget;
  readonly exif: CarriedExif;
  readonly source: PixelSource;
}

/** Returns a warning when the caller keeps metadata and the result lacks camera, location and software details. */
function detailWarnings({ format, target, exif, source }: KeptDetails): string[] {
  if (exif === 'unreadable')
    return [`The camera, location and software details of the ${format} could not be read: the result has none.`];
  const hasDetails = exif !== null || source.metadata.exif !== undefined;
  return hasDetails && !TARGETS[target].exif
    ? [`A ${target} file cannot contain camera, location and software details: the result has none.`]
    : [];
}

/** libvips would keep the first frame only. */
async function compressAnimatedPng(deps: ImageDeps, work: Work): Promise<ProducedImage> {
  const path = join(work.directory, 'out.png');
  const file = await readFile(work.input.path);
  await writeFile(path, recompressAnimatedPng(file, work.limits.maxPixels * MAX_PIXEL_BYTES));
  const facts = await openFacts(deps, work, { path, format: 'png' });
  return { path, format: 'png', facts, warnings: [ANIMATED_PNG_WARNING] };
}

/** Returns the format for `original`. */
function originalTarget(format: Format, { isDrawn }: PixelSource): ImageTarget {
  const written = FORMATS[format].compressedAs ?? format;
  if (written === 'jpg or png') return isDrawn ? 'png' : 'jpg';
  if (isImageTarget(written)) return written;
  throw new TypeError(`no encoder writes ${written}`);
}
