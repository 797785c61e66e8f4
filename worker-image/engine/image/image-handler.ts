/**
 * The handler of images; camera RAW is for compress only. The input is opened by `inspect`, the output when it is written;
 * `encodeImage` and `verifyImage` work on these pictures.
 */
import { join } from 'node:path';
import { FORMATS, isImageTarget, isRaw, type Format, type ImageTarget } from '#crds/catalogue/formats.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import { withArticle } from '#crds/contract/refusal-words.ts';
import type { EngineDeps, KindHandler, Work } from '#worker-image/engine/handler.ts';
import type { CarriedExif } from '#worker-image/engine/image/carried-exif.ts';
import { encodeImage, resizedSize, TARGETS, type Encoding } from '#worker-image/engine/image/encode/encode-image.ts';
import { classifyImage } from '#worker-image/engine/image/encode/quality-scale.ts';
import { recompressAnimatedPng } from '#worker-image/engine/image/encode/recompress-png.ts';
import { GAIN_MAP_WARNING, withImageErrors } from '#worker-image/engine/image/libvips-picture.ts';
import { openImage } from '#worker-image/engine/image/loaders/open-picture.ts';
import { MOTION_PHOTO_WARNING } from '#worker-image/engine/image/motion-photo.ts';
import type { ImageFacts, Picture, PixelSource, ProducedImage } from '#worker-image/engine/image/picture.ts';
import { readWhole } from '#worker-image/engine/image/read-whole.ts';
import { stripImage } from '#worker-image/engine/image/strip/strip-image.ts';
import { writeWhole } from '#worker-image/engine/written-file.ts';
import { verifyImage } from '#worker-image/engine/image/verify-image.ts';

export const imageHandler: KindHandler<ImageFacts, ProducedImage['facts']> = {
  inspect: inspectImage,
  compress: compressImage,
  convert: convertImage,
  stripMetadata: stripImage,
  verify: verifyImage,
};

/**
 * Opens the input. The warning about dimensions belongs to its facts, which are reported whatever is returned: those of a
 * result that is not smaller are dropped with it. @throws MediaError processing_failed when its headers cannot be read.
 */
async function inspectImage(deps: EngineDeps, work: Work): Promise<ImageFacts> {
  const facts = await openImage(deps, work);
  const { size } = facts.picture;
  if (work.operation !== 'compress' || !staysAnimatedPng(work, facts.picture)) return facts;
  const wanted = resizedSize(size, work.options.image.resize);
  if (wanted.width === size.width && wanted.height === size.height) return facts;
  return { ...facts, warning: `An animated PNG is not resized: it keeps its ${size.width} × ${size.height} pixels.` };
}

/** Returns whether compress keeps the frames of an animated PNG. */
function staysAnimatedPng({ options: { image } }: Work, { file, frames }: Picture): boolean {
  return file.format === 'png' && (image.format === 'original' || image.format === 'png') && frames > 1;
}

/**
 * Encodes the image in the requested size and format. The pipeline decides whether the result is small enough to be
 * returned. @throws MediaError processing_failed, limit_exceeded.
 */
async function compressImage(deps: EngineDeps, work: Work, { picture }: ImageFacts): Promise<ProducedImage> {
  const { image: options } = work.options;
  const { format } = picture.file;
  if (staysAnimatedPng(work, picture)) return compressAnimatedPng(deps, work);
  const source = await picture.decode(deps);
  const target = options.format === 'original' ? await originalTarget(format, source) : options.format;
  return produce(deps, work, {
    picture,
    source,
    target,
    quality: options.quality,
    lossless: false,
    resize: options.resize,
    keepMetadata: !options.strip_metadata || target === 'png',
  });
}

/** Returns the format for `original`. */
async function originalTarget(format: Format, source: PixelSource): Promise<ImageTarget> {
  const written = FORMATS[format].compressedAs ?? format;
  if (written === 'jpg or png') return source.isDrawn || (await classifyImage(source)) === 'graphic' ? 'png' : 'jpg';
  if (isImageTarget(written)) return written;
  throw new TypeError(`no encoder writes ${written}`);
}

const ANIMATED_PNG_WARNING = 'An animated PNG keeps its pixels: only its compression was improved.';

/** libvips would keep the first frame only. */
async function compressAnimatedPng(deps: EngineDeps, work: Work): Promise<ProducedImage> {
  const path = join(work.directory, 'out.png');
  const written = await writeWhole(path, await recompressAnimatedPng(deps, await readWhole(work.input.path)));
  const facts = await openImage(deps, work, { path, format: 'png' });
  return { path, format: 'png', facts, warnings: [ANIMATED_PNG_WARNING], written };
}

const CONVERT_QUALITY = 95;

/**
 * Encodes the image in the target format with fixed settings of high quality.
 * @throws MediaError unsupported_input for camera RAW, processing_failed, limit_exceeded.
 */
async function convertImage(deps: EngineDeps, work: Work, { picture }: ImageFacts): Promise<ProducedImage> {
  const target = work.options.convert.to;
  if (target === null || !isImageTarget(target)) throw new Error(`Images cannot be converted to ${target}.`);
  if (isRaw(picture.file.format)) {
    throw new MediaError('unsupported_input', 'Camera RAW files are not converted. Compress decodes them.');
  }
  return produce(deps, work, {
    picture,
    source: await picture.decode(deps),
    target,
    quality: target === 'gif' ? 100 : CONVERT_QUALITY,
    lossless: true,
    resize: null,
    keepMetadata: true,
  });
}

/** Writes the output, opens it and collects the warnings for what it lacks. */
async function produce(deps: EngineDeps, work: Work, encoding: Omit<Encoding, 'exif'>): Promise<ProducedImage> {
  const { picture, source, target, keepMetadata } = encoding;
  deps.onProgress(30);
  const isCarried = keepMetadata && source.metadata.exif === undefined;
  const exif = isCarried ? ((await picture.readExif?.()) ?? null) : null;
  const { path, written } = await encodeImage(deps, { ...encoding, exif: exif === 'unreadable' ? null : exif });
  deps.onProgress(90);
  const facts = target === 'pdf' ? picture.size : await openImage(deps, work, { path, format: target });
  const warnings = [
    ...(await droppedContentWarnings(encoding)),
    ...(work.operation === 'compress' && !work.options.image.strip_metadata ? droppedDetails(encoding, exif) : []),
  ];
  return { path, format: target, facts, warnings, written };
}

interface ImageConversion {
  readonly picture: Picture;
  readonly source: PixelSource;
  readonly target: ImageTarget;
}

/**
 * Returns warnings for what the input holds and the output does not: frames, pages, partial transparency, a gain map, a video,
 * high dynamic range, channels, square pixels.
 * @throws MediaError processing_failed when the input cannot be decoded.
 */
export async function droppedContentWarnings(conversion: ImageConversion): Promise<string[]> {
  return [
    ...droppedFrames(conversion),
    ...((await dropsPartialAlpha(conversion)) ? [PARTIAL_ALPHA_WARNING] : []),
    ...((await conversion.picture.hasGainMap?.()) ? [GAIN_MAP_WARNING] : []),
    ...((await conversion.picture.hasMotionVideo?.()) ? [MOTION_PHOTO_WARNING] : []),
    ...(conversion.picture.isHdr === true ? [HDR_WARNING] : []),
    ...(conversion.source.warnings ?? []),
    ...unequalSides(conversion),
  ];
}

function droppedFrames({ picture: { frames }, target, source }: ImageConversion): string[] {
  const { name, animated } = TARGETS[target];
  if (frames > 1 && !(animated && source.frames > 1)) {
    return [
      `The image is animated, and ${withArticle(name)} file cannot contain all ${frames} frames: only the first one was used.`,
    ];
  }
  return source.pages > 1 ? [`The TIFF has ${source.pages} pages: only the first one was used.`] : [];
}

/** Ratio of the resolutions of both axes from which viewers that ignore it show an image visibly distorted. */
const MIN_DISTORTION = 1.1;

/** Returns a warning for pixels that are not square, as those of a fax. A PDF page has the shape that they describe. */
function unequalSides({ target, source: { resolution } }: ImageConversion): string[] {
  if (target === 'pdf' || resolution === undefined) return [];
  const { x, y } = resolution;
  if (Math.max(x, y) / Math.min(x, y) <= MIN_DISTORTION) return [];
  return [
    `The pixels of the TIFF are not square (${Math.round(x)} x ${Math.round(y)} dpi): viewers that ignore that show the result flat.`,
  ];
}

export const HDR_WARNING =
  'The image has high dynamic range (PQ or HLG): the result shows standard dynamic range, with highlights compressed.';
const PARTIAL_ALPHA_WARNING =
  'The image is partly transparent, which GIF does not support: pixels below half opacity became transparent, the others opaque. Choose png or webp to keep them.';
/** Edge length of the sample of each frame, in pixels. */
const SAMPLE_SIDE = 256;

async function dropsPartialAlpha({ picture, target, source }: ImageConversion): Promise<boolean> {
  if (target !== 'gif' || picture.file.format === target || !source.metadata.hasAlpha) return false;
  const opacity = await withImageErrors('Reading the image', () =>
    source
      .start({ animated: true, keepProfile: true })
      // Without this step sharp would have a WebP decoded at a smaller size, with soft edges.
      .pipelineColourspace('srgb')
      .resize({ width: SAMPLE_SIDE, height: SAMPLE_SIDE, fit: 'inside', kernel: 'nearest', withoutEnlargement: true })
      .ensureAlpha()
      .extractChannel('alpha')
      .raw({ depth: 'uchar' })
      .toBuffer(),
  );
  return opacity.some((value) => value > 0 && value < 255);
}

/** Returns a warning when the caller keeps metadata and the result lacks camera, location and software details. */
function droppedDetails({ picture, source, target }: ImageConversion, exif: CarriedExif): string[] {
  if (exif === 'unreadable') {
    return [
      `The camera, location and software details of the ${picture.file.format} could not be read: the result has none.`,
    ];
  }
  const hasDetails = exif !== null || source.metadata.exif !== undefined;
  return hasDetails && TARGETS[target].exif !== true
    ? [`A ${target} file cannot contain camera, location and software details: the result has none.`]
    : [];
}
