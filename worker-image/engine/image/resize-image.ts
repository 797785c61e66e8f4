/** Size of the output image. See docs/reference/options.md#image. */
import type { Sharp } from 'sharp';
import type { ResolvedOptions } from '#crds/catalogue/options/options.ts';

export type Resize = ResolvedOptions['image']['resize'];

export interface ImageSize {
  readonly width: number;
  readonly height: number;
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

/** Returns the output size in whole pixels, in the aspect ratio of the input. */
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
