import { TARGETS, type ImageTarget } from '#worker-image/engine/image/image-formats.ts';
import { withImageErrors } from '#worker-image/engine/image/image-errors.ts';
import type { Picture, PixelSource } from '#worker-image/engine/image/picture.ts';
import { GAIN_MAP_WARNING } from '#worker-image/engine/image/warnings/gain-map.ts';

interface ImageConversion {
  readonly picture: Picture;
  readonly source: PixelSource;
  readonly target: ImageTarget;
}

/**
 * Returns warnings for what the input holds and the output does not: frames, pages, partial transparency, a gain map.
 * @throws MediaError processing_failed when the input cannot be decoded.
 */
export async function droppedContentWarnings(conversion: ImageConversion): Promise<string[]> {
  return [
    ...droppedFrames(conversion),
    ...((await dropsPartialAlpha(conversion)) ? [PARTIAL_ALPHA_WARNING] : []),
    ...((await conversion.picture.hasGainMap()) ? [GAIN_MAP_WARNING] : []),
  ];
}

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

function droppedFrames({ picture: { frames }, target, source }: ImageConversion): string[] {
  const { name, animated } = TARGETS[target];
  if (frames > 1 && !(animated && source.frames > 1)) {
    return [
      `The image is animated, and a ${name} file cannot contain all ${frames} frames: only the first one was used.`,
    ];
  }
  return source.pages > 1 ? [`The TIFF has ${source.pages} pages: only the first one was used.`] : [];
}
